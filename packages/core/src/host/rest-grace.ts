import { currentTurn, type SessionState } from '../session/session-state.js';
import { isRunnable, isWaiting } from '../session/waiting.js';
import type { RuntimeConfig } from './runtime-options.js';

/**
 * Milliseconds after which a session that nobody uses leaves memory; `undefined` while it has something to do at a time
 * in epoch milliseconds. One that the runtime loaded for its work alone (`isKept`) stays no longer than one that waits.
 */
export function restGrace(
  state: SessionState,
  { waitingGraceMs, idleGraceMs }: Pick<RuntimeConfig, 'waitingGraceMs' | 'idleGraceMs'>,
  isKept: boolean,
  now: number,
): number | undefined {
  if (isRunnable(state, now)) return undefined;
  if (isWaiting(state)) return waitingGraceMs;
  if (currentTurn(state) !== undefined) return undefined;
  return isKept ? waitingGraceMs : idleGraceMs;
}
