import { PerdureError } from '@perdure/plugin-api';
import type { SessionState } from './session-state.js';

/** Throws PERDURE_SESSION_ARCHIVED when a session takes no input before it is restored. */
export function refuseArchived({ archivedAt }: Pick<SessionState, 'archivedAt'>, session: string): void {
  if (archivedAt === undefined) return;
  throw new PerdureError('PERDURE_SESSION_ARCHIVED', { session, since: timeText(archivedAt), at: archivedAt });
}

const inUtc = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' });

/** A time in epoch milliseconds for people. */
function timeText(ms: number): string {
  return `${inUtc.format(ms)} UTC`;
}
