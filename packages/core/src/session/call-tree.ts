import type { CallState } from './call-state.js';
import type { SessionState } from './session-state.js';

/** The calls that are not over: of the step that goes on, of the host, and parts of both. */
export function openCalls({ open, hostCalls, nestedCalls }: SessionState): readonly CallState[] {
  return [...(open[0]?.step?.calls ?? []), ...hostCalls, ...nestedCalls];
}

/** The call of a model or a host of which a nested call is a part, directly or not. */
export function wholeOf(state: SessionState, part: CallState): CallState | undefined {
  const calls = openCalls(state);
  let whole: CallState | undefined = part;
  // A stream that somebody made up may have calls that are parts of themselves: those have no whole.
  for (let above = 0; whole?.parent !== undefined; above++) {
    if (above > calls.length) return undefined;
    const { parent }: CallState = whole;
    whole = calls.find(({ callId }) => callId === parent);
  }
  return whole;
}
