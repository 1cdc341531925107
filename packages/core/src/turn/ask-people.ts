import type { JsonValue } from '@perdure/events';
import { PerdureError, reasonOf, type AskOutcome, type QuestionSet } from '@perdure/plugin-api';
import { whyNobodyIsAsked } from '../invoke/gates/nobody-to-ask.js';
import { answeredOutcome } from '../invoke/questions.js';
import type { CallQuestion, CallState } from '../session/call-state.js';
import { draftFact } from '../session/fact-batch.js';
import { checkQuestionSet } from '../session/question-set.js';
import { refuseArchived } from '../session/refuse-archived.js';
import { broken, factPlace, owned, settle } from './settle-side-call.js';
import { callBeside, isStopped, untilAnswered } from './side-call-state.js';
import type { CallSite } from './side-call.js';

/** Questions of a running call: the part of it that asks them, and how people are to know the call. */
export interface PeopleRequest {
  readonly callId: string;
  readonly whole: CallState;
  readonly questions: QuestionSet;
}

/** What may be asked, as it is stored. Throws PERDURE_INPUT_INVALID. */
export function checkQuestions(given: unknown): QuestionSet {
  try {
    return checkQuestionSet(given);
  } catch (error) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'questions', reason: reasonOf(error) }, { cause: error });
  }
}

/**
 * Asks people in the middle of a call and waits for them in this process. The question is a part of the call: a fact
 * before anybody sees it, answered once, and settled before the call is. An earlier run of the same call may have asked
 * it; then nobody is asked a second time.
 */
export async function askPeople(request: PeopleRequest, site: CallSite): Promise<AskOutcome> {
  const { journal, key } = site.work;
  const about = { callId: request.callId, name: request.whole.name, origin: 'nested' as const };
  let part = callBeside(journal.state, request.callId);
  if (part === undefined) {
    const reason = whyNobodyIsAsked(site.agent.parts, site.context);
    if (reason !== undefined) return { status: 'nobody', reason };
    const asked = draftFact('QuestionAsked', questionPayload(request, site), ...factPlace(site));
    part = await owned(site, (batch) => {
      refuseArchived(batch.state, key.id);
      // Nobody waits for answers of a turn that was told to end.
      if (isStopped(batch.state, request.whole)) return undefined;
      batch.keep(asked);
      return callBeside(batch.state, request.callId);
    });
  }
  if (part?.question !== undefined && part.settled === undefined) {
    const answered = await untilAnswered(journal, request.callId, site.context.signal);
    if (answered !== undefined) {
      await settle(about, answeredOutcome(answered), site);
      return outcomeOf(answered.question);
    }
    await broken(about, site);
  } else if (part?.settled !== undefined) return outcomeOf(part.question);
  throw new PerdureError('PERDURE_TOOL_CALL_OVER', { tool: about.name });
}

function questionPayload({ callId, whole, questions: set }: PeopleRequest, { work, agent }: CallSite) {
  const { title, questions, onExpiry } = set;
  // Those that set no time for themselves expire with the other requests of the agent.
  const expiresInMs = set.expiresInMs ?? agent.parts.approval?.expiresInMs;
  return {
    ...{ callId, name: whole.name, origin: 'nested' as const, parent: whole.callId },
    argumentDigest: whole.decision?.argumentDigest ?? '',
    ...(title === undefined ? {} : { title }),
    questions: [...questions],
    ...(expiresInMs === undefined ? {} : { expiresAt: work.env.clock.now() + expiresInMs }),
    ...(onExpiry === undefined ? {} : { onExpiry }),
  };
}

function outcomeOf(question: CallQuestion | undefined): AskOutcome {
  const answer = question?.answer;
  if (answer === undefined) return { status: 'unanswered' };
  const { answers, by, isExpiry } = answer;
  if (answers !== undefined) return { status: 'answered', answers, by, ...(isExpiry && { isDefault: isExpiry }) };
  return isExpiry === true ? { status: 'unanswered' } : { status: 'declined', by };
}

/** What tells the questions of a call apart. */
export function questionKey({ title = '', questions }: QuestionSet): JsonValue {
  return { title, questions: questions as unknown as JsonValue };
}
