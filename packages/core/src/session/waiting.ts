import { waitsForPeople } from '../turn/decider.js';
import { nextExpiry } from './interactions.js';
import type { SessionState } from './session-state.js';

/** Whether nothing of a session is under way and its turn only waits for people. */
export function isWaiting(state: SessionState): boolean {
  if (state.newer !== undefined || state.isErased) return false;
  return state.hostCalls.length === 0 && state.nestedCalls.length === 0 && waitsForPeople(state);
}

/**
 * Whether the session has work that an owner can do without waiting for anyone, at a time in epoch milliseconds: an
 * answer that is due for expiry is such work.
 */
export function isRunnable(state: SessionState, now: number): boolean {
  if (state.newer !== undefined || state.archivedAt !== undefined || state.isErased) return false;
  if (isWaiting(state)) return (nextExpiry(state) ?? Number.POSITIVE_INFINITY) <= now;
  return state.open.length > 0 || state.changes.length > 0 || state.hostCalls.length > 0;
}
