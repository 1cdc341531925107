import {
  PerdureError,
  type ApprovalInteraction,
  type Interaction,
  type InteractionResponse,
  type QuestionInteraction,
} from '@perdure/plugin-api';
import { addAnswer, answeredError } from './add-answer.js';
import { expireApproval, expireQuestion, isDue, isPending, unsettledCalls } from './asked-call.js';
import { wholeOf } from './call-tree.js';
import { checkResponse } from './check-response.js';
import { earlierAnswer } from './earlier-answer.js';
import type { FactBatch } from './fact-batch.js';
import type { LoadedSession } from './loaded-session.js';
import type { CallApproval, CallQuestion, CallState } from './call-state.js';
import { currentTurn, type SessionState } from './session-state.js';

/** What waits for an answer, in the order of the calls. */
export function pendingInteractions(state: SessionState): readonly Interaction[] {
  return unsettledCalls(state).flatMap((call): Interaction[] => {
    const { callId: id, name: tool, input = {}, approval, question } = call;
    const about = { id, turnId: turnOf(state, call), tool, input };
    if (isPending(approval)) return [{ ...about, ...approvalOf(approval) }];
    return isPending(question) ? [{ ...about, ...questionOf(question) }] : [];
  });
}

function approvalOf(approval: CallApproval): Omit<ApprovalInteraction, 'id' | 'turnId' | 'tool' | 'input'> {
  const { argumentDigest, effect, reason = null, suggestion = null, requestedAt, expiresAt = null } = approval;
  return { kind: 'approval', argumentDigest, effect, reason, suggestion, requestedAt, expiresAt };
}

function questionOf(question: CallQuestion): Omit<QuestionInteraction, 'id' | 'turnId' | 'tool' | 'input'> {
  const { argumentDigest, title = null, questions, requestedAt, expiresAt = null } = question;
  return { kind: 'question', argumentDigest, title, questions, requestedAt, expiresAt };
}

/**
 * Appends an answer. Throws PERDURE_INPUT_INVALID, PERDURE_INTERACTION_NOT_FOUND, _ANSWERED with the winner, _CHANGED
 * or _EXPIRED; an answer that came too late or is about other arguments leaves a fact of its own.
 */
export async function respondTo(loaded: LoadedSession, given: InteractionResponse): Promise<void> {
  const { journal, env, key, redaction } = loaded.work;
  // Options are stored without secrets, and so must be what is compared with them.
  const response = redaction.redactFact(checkResponse(given));
  const interaction = response.id;
  await journal.refresh();
  const now = env.clock.now();
  const refused = await journal.commit((batch) => addAnswer(batch, response, now), 'input');
  if (refused === 'unknown') {
    const { store } = loaded.work;
    const type = 'decision' in response ? 'ApprovalResolved' : 'QuestionAnswered';
    const winner = await earlierAnswer({ store, registry: journal.registry }, key, interaction, type);
    if (winner !== undefined) throw answeredError(interaction, winner);
    throw new PerdureError('PERDURE_INTERACTION_NOT_FOUND', { interaction, session: key.id });
  }
  if (refused !== undefined) throw refused;
  await loaded.runIfSupplied();
}

/** Answers what has expired. Whether there was anything. */
export function expireDue(batch: FactBatch, now: number): boolean {
  let hasExpired = false;
  for (const { callId, approval, question } of unsettledCalls(batch.state)) {
    if (isPending(approval) && isDue(approval, now)) expireApproval(batch, callId, approval);
    else if (isPending(question) && isDue(question, now)) expireQuestion(batch, callId, question);
    else continue;
    hasExpired = true;
  }
  return hasExpired;
}

/** When the first of what waits for an answer expires. */
export function nextExpiry(state: SessionState): number | undefined {
  const times = unsettledCalls(state).flatMap(({ approval, question }) =>
    [approval, question].flatMap((asked) =>
      isPending(asked) && asked.expiresAt !== undefined ? [asked.expiresAt] : [],
    ),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** A call of the host belongs to no turn, and its parts do not either. */
function turnOf(state: SessionState, call: CallState): string | null {
  return wholeOf(state, call)?.origin === 'host' ? null : (currentTurn(state)?.turnId ?? null);
}
