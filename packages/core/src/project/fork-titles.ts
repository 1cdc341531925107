import { keyText } from '@perdure/events';
import type { SessionListRow } from './session-list.js';

/**
 * Rows in which forks are called as their sessions are: by a title of their own, else by the first words of the whole
 * conversation, which are those of what they go on from. Only rows are looked at.
 */
export function withForkTitles(rows: ReadonlyMap<string, SessionListRow>): ReadonlyMap<string, SessionListRow> {
  const titled = new Map<string, SessionListRow>();
  for (const [key, row] of rows) {
    const isOwn = row.titleBy === 'host' || row.titleBy === 'model';
    const title = row.forkedFrom === undefined || isOwn ? undefined : inherited(row, rows);
    titled.set(key, title === undefined ? row : { ...row, title, titleBy: 'prompt' });
  }
  return titled;
}

/** The first words before a fork: of the session where the line begins, or of the first behind it that has any. */
function inherited(fork: SessionListRow, rows: ReadonlyMap<string, SessionListRow>): string | undefined {
  let found: string | undefined;
  // A fork comes after what it goes on from: the line has an end.
  for (let row: SessionListRow | undefined = fork; row?.forkedFrom !== undefined;) {
    const { session, revision }: { readonly session: string; readonly revision: number } = row.forkedFrom;
    const { tenant }: { readonly tenant: string | null } = row;
    const origin = rows.get(keyText(tenant === null ? { id: session } : { tenant, id: session }));
    const since = origin?.words?.since;
    if (since !== undefined && since <= revision) found = origin?.words?.text;
    row = origin;
  }
  return found;
}
