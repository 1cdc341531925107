import { isPending } from './asked-call.js';
import { openCalls } from './call-tree.js';
import type { CallState } from './call-state.js';
import { currentTurn, type SessionState } from './session-state.js';

/** Whether a call that runs waits for a person: one of its parts, however deep, asks or is asked about. */
export function waitsInside(state: SessionState, callId: string): boolean {
  const { nestedCalls } = state;
  if (nestedCalls.length === 0) return false;
  const calls = openCalls(state);
  const isWithin = (part: CallState | undefined): boolean =>
    part?.parent !== undefined &&
    (part.parent === callId || isWithin(calls.find((each) => each.callId === part.parent)));
  return nestedCalls.some(
    (part) => part.settled === undefined && (isPending(part.approval) || isPending(part.question)) && isWithin(part),
  );
}

/** Whether all that runs of the turn waits for people. */
export function turnWaitsInside(state: SessionState): boolean {
  if (state.nestedCalls.length === 0) return false;
  const calls = currentTurn(state)?.step?.calls ?? [];
  const running = calls.filter(({ started, settled }) => started !== undefined && settled === undefined);
  return running.length > 0 && running.every(({ callId }) => waitsInside(state, callId));
}
