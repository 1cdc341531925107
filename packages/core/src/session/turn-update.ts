import type { CallState, OpenStep, OpenTurn, SessionState } from './session-state.js';

/** The state with one open turn changed. */
export function updateTurn(state: SessionState, turnId: string, change: (turn: OpenTurn) => OpenTurn): SessionState {
  return { ...state, open: state.open.map((turn) => (turn.turnId === turnId ? change(turn) : turn)) };
}

/** The state with the open step of the running turn changed. */
export function updateStep(state: SessionState, change: (step: OpenStep, turn: OpenTurn) => OpenStep): SessionState {
  const turn = state.open[0];
  if (turn?.step === undefined) return state;
  const step = change(turn.step, turn);
  return { ...state, open: [{ ...turn, step }, ...state.open.slice(1)] };
}

/** The state with one unsettled call changed, wherever it stands. */
export function updateCall(state: SessionState, callId: string, change: (call: CallState) => CallState): SessionState {
  if (state.hostCalls.some((call) => call.callId === callId)) {
    return { ...state, hostCalls: state.hostCalls.map((call) => (call.callId === callId ? change(call) : call)) };
  }
  return updateStep(state, (step) => ({
    ...step,
    calls: step.calls.map((call) => (call.callId === callId ? change(call) : call)),
  }));
}
