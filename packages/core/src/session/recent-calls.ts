import type { ToolCallPart } from '@perdure/events';
import { canonicalJson } from './canonical-json.js';
import type { SessionState } from './session-state.js';

/** The calls that a turn's answers asked for, the last one first. */
function* callsBackwards({ messages }: SessionState, turnId: string): Generator<ToolCallPart> {
  for (const message of answersBackwards(messages, turnId)) {
    for (const part of message.parts.toReversed()) if (part.type === 'tool-call') yield part;
  }
}

function* answersBackwards(messages: SessionState['messages'], turnId: string) {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index);
    if (message === undefined || message.turnId !== turnId) return;
    if (message.role === 'assistant' && message.status === 'complete') yield message;
  }
}

/**
 * How often in a row the turn's model asked for the same: the same tool with the same arguments, up to one call or to
 * the last. Counted from the end and no further than `most`.
 */
export function timesInARow(state: SessionState, turnId: string, most: number, upTo?: string): number {
  let last: ToolCallPart | undefined;
  let fingerprint: string | undefined;
  let times = 0;
  for (const call of callsBackwards(state, turnId)) {
    if (last === undefined) {
      if (upTo !== undefined && call.callId !== upTo) continue;
      last = call;
    } else {
      if (call.name !== last.name) break;
      fingerprint ??= fingerprintOf(last);
      if (fingerprintOf(call) !== fingerprint) break;
    }
    times += 1;
    if (times >= most) break;
  }
  return times;
}

/** How many of the turn's last answers asked for a call with arguments that are not JSON, no further than `most`. */
export function brokenAnswersInARow({ messages }: SessionState, turnId: string, most: number): number {
  let times = 0;
  for (const { parts } of answersBackwards(messages, turnId)) {
    if (!parts.some((part) => part.type === 'tool-call' && part.invalidInput !== undefined)) break;
    times += 1;
    if (times >= most) break;
  }
  return times;
}

function fingerprintOf({ input, invalidInput }: ToolCallPart): string {
  return invalidInput ?? canonicalJson(input ?? {});
}
