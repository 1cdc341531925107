import type { Failure, JsonValue, PayloadOf } from '@perdure/events';
import { errorMessage, reasonOf, type QuestionSet } from '@perdure/plugin-api';
import type { BoundTool } from '../compose/tool-set.js';
import { checkQuestionSet } from '../session/question-set.js';
import type { CallState } from '../session/call-state.js';
import { refuseLater } from './refuse-later.js';

/** What a call asks people; or why it cannot, which is how it ends. */
export function questionsOf(
  call: CallState,
  bound: BoundTool | undefined,
  expiresAt: (expiresInMs: number) => number,
): PayloadOf<'QuestionAsked'> | { readonly failure: Failure } {
  const { callId, name, decision } = call;
  try {
    const { title, questions, expiresInMs, onExpiry } = askTool(call, bound);
    return {
      callId,
      name,
      argumentDigest: decision?.argumentDigest ?? '',
      ...(title === undefined ? {} : { title }),
      questions: [...questions],
      ...(expiresInMs === undefined ? {} : { expiresAt: expiresAt(expiresInMs) }),
      ...(onExpiry === undefined ? {} : { onExpiry }),
    };
  } catch (error) {
    const code = 'PERDURE_TOOL_FAILED';
    return { failure: { code, message: errorMessage(code, { tool: name, reason: reasonOf(error) }) } };
  }
}

function askTool({ input = {} }: CallState, bound: BoundTool | undefined): QuestionSet {
  if (bound?.tool.questions === undefined) throw new TypeError('it asks nothing any more');
  const checked = bound.schema.validate(input);
  return checkQuestionSet(refuseLater(bound.tool.questions((checked.ok ? checked.value : input) as never)));
}

/** How a call ends whose questions have their answer. */
export function answeredOutcome({
  name,
  question,
}: CallState):
  | { readonly status: 'completed'; readonly output: JsonValue }
  | { readonly status: 'failed'; readonly failure: Failure } {
  const { answers, isExpiry, by = '' } = question?.answer ?? {};
  if (answers === undefined && question?.answer !== undefined && isExpiry === undefined) {
    const code = 'PERDURE_TOOL_DECLINED';
    return { status: 'failed', failure: { code, message: errorMessage(code, { tool: name, by }) } };
  }
  if (answers === undefined) {
    const code = 'PERDURE_TOOL_UNANSWERED';
    return { status: 'failed', failure: { code, message: errorMessage(code, { tool: name }) } };
  }
  return { status: 'completed', output: { answers, ...(isExpiry === undefined ? {} : { isDefault: true }) } };
}
