import type { LoadedSession } from '../session/loaded-session.js';
import { currentTurn } from '../session/session-state.js';
import { isRunnable, isWaiting } from '../session/waiting.js';
import type { RuntimeConfig } from './runtime-options.js';

/**
 * Milliseconds after which a session that nobody uses leaves memory; `undefined` while it has something to do at a time
 * in epoch milliseconds, and while it looks after children, whose ends it is to be told. One that the runtime loaded
 * for its work alone (`isKept`) stays no longer than one that waits.
 */
export function restGrace(
  { work, isOwner }: Pick<LoadedSession, 'work' | 'isOwner'>,
  { waitingGraceMs, idleGraceMs }: Pick<RuntimeConfig, 'waitingGraceMs' | 'idleGraceMs'>,
  isKept: boolean,
  now: number,
): number | undefined {
  const { state } = work.journal;
  if (isRunnable(state, now)) return undefined;
  if (isWaiting(state)) return waitingGraceMs;
  if (currentTurn(state) !== undefined) return undefined;
  if (isOwner && state.children.some(({ ended }) => ended === undefined)) return undefined;
  return isKept ? waitingGraceMs : idleGraceMs;
}
