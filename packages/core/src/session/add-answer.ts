import type { Actor, PayloadOf } from '@perdure/events';
import {
  errorMessage,
  PerdureError,
  type ApprovalResponse,
  type DeclineResponse,
  type ErrorCode,
  type InteractionResponse,
  type QuestionResponse,
} from '@perdure/plugin-api';
import { expireApproval, expireQuestion, isDue, unsettledCalls } from './asked-call.js';
import { openCalls } from './call-tree.js';
import type { FactBatch } from './fact-batch.js';
import { answersProblem } from './question-set.js';
import type { CallState } from './call-state.js';

/** Why an answer does not count; `unknown` when nobody is asked by this id. */
export type Refusal = PerdureError | 'unknown' | undefined;

/** Adds an answer, or the record of one that cannot count, and says why it cannot. */
export function addAnswer(batch: FactBatch, response: InteractionResponse, now: number): Refusal {
  const call = openCalls(batch.state).find(({ callId }) => callId === response.id);
  if (call === undefined) return 'unknown';
  return 'decision' in response
    ? answerApproval(batch, call, response, now)
    : answerQuestion(batch, call, response, now);
}

function answerApproval(batch: FactBatch, call: CallState, response: ApprovalResponse, now: number): Refusal {
  const { id: callId, decision, by, reason } = response;
  const { approval } = call;
  if (approval === undefined) {
    return call.question === undefined ? 'unknown' : invalid('decision', 'it is a question, which has answers');
  }
  if (approval.answer !== undefined) return answeredError(callId, approval.answer);
  if (!isWaitedFor(batch, call)) return 'unknown';
  const { argumentDigest } = approval;
  if (!isOfSame(response, argumentDigest))
    return refuse(batch, 'ApprovalRefused', response, 'PERDURE_INTERACTION_CHANGED');
  if (isDue(approval, now)) {
    expireApproval(batch, callId, approval);
    return refuse(batch, 'ApprovalRefused', response, 'PERDURE_INTERACTION_EXPIRED');
  }
  const why = reason === undefined ? {} : { reason };
  batch.add('ApprovalResolved', { callId, argumentDigest, decision, by, ...why }, {}, person(by));
  return undefined;
}

function answerQuestion(
  batch: FactBatch,
  call: CallState,
  response: QuestionResponse | DeclineResponse,
  now: number,
): Refusal {
  const { id: callId, by } = response;
  const answers = 'answers' in response ? response.answers : undefined;
  const { question } = call;
  if (question === undefined) {
    const field = answers === undefined ? 'decline' : 'answers';
    return call.approval === undefined ? 'unknown' : invalid(field, 'it is an approval, which has a decision');
  }
  if (question.answer !== undefined) return answeredError(callId, question.answer);
  if (!isWaitedFor(batch, call)) return 'unknown';
  const { argumentDigest } = question;
  if (!isOfSame(response, argumentDigest))
    return refuse(batch, 'QuestionRefused', response, 'PERDURE_INTERACTION_CHANGED');
  if (isDue(question, now)) {
    expireQuestion(batch, callId, question);
    return refuse(batch, 'QuestionRefused', response, 'PERDURE_INTERACTION_EXPIRED');
  }
  const problem = answers && answersProblem(question.questions, answers);
  if (problem !== undefined) return invalid(problem.field, problem.reason);
  const given = answers === undefined ? {} : { answers };
  batch.add('QuestionAnswered', { callId, argumentDigest, by, ...given }, {}, person(by));
  return undefined;
}

/** Neither a call that is settled nor a turn that was told to end waits for an answer. */
function isWaitedFor({ state }: FactBatch, call: CallState): boolean {
  return unsettledCalls(state).includes(call);
}

/** Whether the answer is to what was shown, where it says to what it is. */
function isOfSame({ argumentDigest }: InteractionResponse, shown: string): boolean {
  return argumentDigest === undefined || argumentDigest === shown;
}

function refuse(
  batch: FactBatch,
  type: 'ApprovalRefused' | 'QuestionRefused',
  { id: interaction, by }: InteractionResponse,
  code: ErrorCode,
): PerdureError {
  const message = errorMessage(code, { interaction });
  batch.add(type, { callId: interaction, by, code, message }, {}, person(by));
  return new PerdureError(code, { interaction });
}

function person(id: string): Actor {
  return { kind: 'user', id };
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field: `response.${field}`, reason });
}

type Winner = Pick<PayloadOf<'ApprovalResolved'> | PayloadOf<'QuestionAnswered'>, 'by'> & {
  readonly decision?: string;
  readonly answers?: unknown;
  readonly isExpiry?: true;
};

/** Whose answer was the first. */
export function answeredError(interaction: string, { by, decision, answers, isExpiry }: Winner): PerdureError {
  const unanswered = isExpiry === true ? 'no answer in time' : 'declined';
  const said = decision ?? (answers === undefined ? unanswered : 'answers given');
  return new PerdureError('PERDURE_INTERACTION_ANSWERED', { interaction, by, decision: said });
}
