import { openCalls } from './call-tree.js';
import { currentTurn, type CallState, type OpenTurn, type SessionState } from './session-state.js';

/** Whether a call waits for a person who was asked about it and has not answered. */
export function awaitsAnswer({ approval, decision, settled }: CallState): boolean {
  return settled === undefined && decision === undefined && approval !== undefined && approval.answer === undefined;
}

/**
 * Whether a turn can do nothing before a person answers: every call that is not decided is one that somebody is asked
 * about. Prompts and changes that came meanwhile wait for the next step, and do not make it go on.
 */
export function onlyWaits({ step, stop }: OpenTurn): boolean {
  if (step?.answer === undefined || stop !== undefined) return false;
  const unsettled = step.calls.filter(({ settled }) => settled === undefined);
  if (unsettled.some(({ decision }) => decision?.decision === 'deny')) return false;
  const open = unsettled.filter(({ decision }) => decision === undefined);
  return open.length > 0 && open.every(awaitsAnswer);
}

/** When the first request expires that nobody has answered, in epoch milliseconds. */
export function nextExpiry(state: SessionState): number | undefined {
  const times = openCalls(state).flatMap((call) =>
    awaitsAnswer(call) && call.approval?.expiresAt !== undefined ? [call.approval.expiresAt] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whether nothing of a session is under way and its turn only waits for people. */
export function isWaiting(state: SessionState): boolean {
  const turn = currentTurn(state);
  if (state.newer !== undefined || turn === undefined) return false;
  return state.hostCalls.length === 0 && state.nestedCalls.length === 0 && onlyWaits(turn);
}

/**
 * Whether the session has work that an owner can do without waiting for anyone, at a time in epoch milliseconds: an
 * answer that is due for expiry is such work.
 */
export function isRunnable(state: SessionState, now: number): boolean {
  if (state.newer !== undefined) return false;
  if (isWaiting(state)) return (nextExpiry(state) ?? Number.POSITIVE_INFINITY) <= now;
  return state.open.length > 0 || state.changes.length > 0 || state.hostCalls.length > 0;
}
