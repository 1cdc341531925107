import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { isPerdureError, reasonOf, type ErrorCode, type ToolContext } from '@perdure/plugin-api';
import { safeText } from '../tools/safe-text.js';
import { formOf } from './form-of.js';

const LONGEST_MESSAGE = 1_024;

/** What a server wanted to know and did not get, and why; models are told of it beside the server's answer. */
export interface Unasked {
  readonly code: ErrorCode;
  readonly asked: string;
  readonly reason: string;
}

/** A call that a server may ask people for. */
export interface AskingCall {
  readonly server: string;
  /** Absent where the call has no way to people. */
  readonly ask: ToolContext['ask'];
  /** The end of the call takes its questions back. */
  readonly signal: AbortSignal;
  /** Its time stands still while people are asked. */
  waitFor<Result>(people: Promise<Result>): Promise<Result>;
}

export interface Elicited {
  readonly result: ElicitResult;
  readonly unasked?: Unasked;
}

/** Puts what a server asks before people. Never throws: what cannot be asked is declined. */
export async function elicit(params: ElicitRequestFormParams, call: AskingCall, taken: AbortSignal): Promise<Elicited> {
  const refused = (action: 'decline' | 'cancel', code: ErrorCode, reason: string): Elicited => ({
    result: { action },
    unasked: unaskedOf(params.message, code, reason),
  });
  if (call.ask === undefined) return refused('decline', 'PERDURE_TOOL_NOBODY_TO_ASK', 'the call has no way to people');
  try {
    const form = formOf(call.server, params);
    const signal = AbortSignal.any([taken, call.signal]);
    const outcome = await call.waitFor(call.ask(form.questions, { signal }));
    switch (outcome.status) {
      case 'answered': {
        const content = form.content(outcome.answers);
        if (content !== undefined) return { result: { action: 'accept', content: { ...content } } };
        return refused('cancel', 'PERDURE_INPUT_INVALID', 'an answer is not what was offered');
      }
      case 'declined':
        return { result: { action: 'decline' } };
      case 'unanswered':
        return refused('cancel', 'PERDURE_TOOL_UNANSWERED', 'nobody answered in time');
      case 'nobody':
        return refused('decline', 'PERDURE_TOOL_NOBODY_TO_ASK', outcome.reason);
    }
  } catch (error) {
    if (isPerdureError(error, 'PERDURE_TOOL_CALL_OVER')) return { result: { action: 'cancel' } };
    const code = isPerdureError(error) ? error.code : 'PERDURE_TOOL_ASKS';
    return refused('decline', code, safeText(reasonOf(error), LONGEST_MESSAGE));
  }
}

export function unaskedOf(message: string, code: ErrorCode, reason: string): Unasked {
  return { code, asked: safeText(message, LONGEST_MESSAGE), reason };
}
