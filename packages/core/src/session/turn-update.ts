import type { CallState } from './call-state.js';
import type { OpenStep, OpenTurn, SessionState } from './session-state.js';
import { copyState, copyStep, copyTurn, withFirst } from './state-copies.js';

/** The state with one open turn changed. */
export function updateTurn(state: SessionState, turnId: string, change: (turn: OpenTurn) => OpenTurn): SessionState {
  const next = copyState(state);
  next.open = state.open.map((turn) => (turn.turnId === turnId ? change(turn) : turn));
  return next;
}

/** The state with another step, or none, in the turn that runs. */
export function withStep(state: SessionState, turn: OpenTurn, step: OpenStep | undefined): SessionState {
  const changed = copyTurn(turn);
  changed.step = step;
  const next = copyState(state);
  next.open = withFirst(state.open, changed);
  return next;
}

/** The state with one unsettled call changed, wherever it stands. */
export function updateCall(state: SessionState, callId: string, change: (call: CallState) => CallState): SessionState {
  if (state.hostCalls.some((call) => call.callId === callId)) {
    const next = copyState(state);
    next.hostCalls = replaceCall(state.hostCalls, callId, change);
    return next;
  }
  if (state.nestedCalls.some((call) => call.callId === callId)) {
    const next = copyState(state);
    next.nestedCalls = replaceCall(state.nestedCalls, callId, change);
    return next;
  }
  const turn = state.open[0];
  if (turn?.step === undefined) return state;
  const step = copyStep(turn.step);
  step.calls = replaceCall(turn.step.calls, callId, change);
  return withStep(state, turn, step);
}

function replaceCall(
  calls: readonly CallState[],
  callId: string,
  change: (call: CallState) => CallState,
): readonly CallState[] {
  return calls.map((call) => (call.callId === callId ? change(call) : call));
}
