import type { PayloadOf } from '@perdure/events';
import {
  errorMessage,
  PerdureError,
  type ErrorCode,
  type Interaction,
  type InteractionResponse,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { openCalls, wholeOf } from './call-tree.js';
import { readChain } from './chain-reader.js';
import type { FactBatch } from './fact-batch.js';
import type { LoadedSession } from './loaded-session.js';
import { currentTurn, type CallApproval, type CallState, type SessionState } from './session-state.js';

const text = z.string().min(1).max(1_000);
const shape = z.strictObject({
  id: text,
  decision: z.enum(['allow', 'deny']),
  by: text,
  reason: z.string().max(4_000).exactOptional(),
  argumentDigest: text.exactOptional(),
}) satisfies z.ZodType<InteractionResponse>;

/** What waits for an answer, in the order of the calls. */
export function pendingInteractions(state: SessionState): readonly Interaction[] {
  return askedCalls(state).flatMap((call) => {
    const { callId, name, input = {}, approval, settled } = call;
    if (approval.answer !== undefined || settled !== undefined) return [];
    const { argumentDigest, effect, reason = null, suggestion = null, requestedAt, expiresAt = null } = approval;
    const about = { tool: name, input, argumentDigest, effect, reason, suggestion, requestedAt, expiresAt };
    return [{ kind: 'approval' as const, id: callId, turnId: turnOf(state, call), ...about }];
  });
}

/**
 * Appends an answer. Throws PERDURE_INPUT_INVALID, PERDURE_INTERACTION_NOT_FOUND, _ANSWERED with the winner, _CHANGED
 * or _EXPIRED; an answer that came too late or does not fit leaves a fact of its own.
 */
export async function respondTo(loaded: LoadedSession, given: InteractionResponse): Promise<void> {
  const parsed = shape.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = ['response', ...(issue?.path ?? [])].join('.');
    throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: issue?.message ?? 'not valid' });
  }
  const { journal, env, key } = loaded.work;
  const { id: interaction } = parsed.data;
  await journal.refresh();
  const now = env.clock.now();
  const refused = await journal.commit((batch) => answer(batch, parsed.data, now), 'input');
  if (refused === 'unknown') {
    const winner = await earlierAnswer(loaded, interaction);
    if (winner !== undefined) throw answered(interaction, winner);
    throw new PerdureError('PERDURE_INTERACTION_NOT_FOUND', { interaction, session: key.id });
  }
  if (refused instanceof PerdureError) throw refused;
  await loaded.runIfSupplied();
}

/** Adds the answer, or the record of one that cannot count, and says why it cannot. */
function answer(batch: FactBatch, response: InteractionResponse, now: number): PerdureError | 'unknown' | undefined {
  const { id: interaction, decision, by, reason, argumentDigest } = response;
  const call = askedCalls(batch.state).find(({ callId }) => callId === interaction);
  if (call === undefined || (call.settled !== undefined && call.approval.answer === undefined)) return 'unknown';
  const { approval } = call;
  if (approval.answer !== undefined) return answered(interaction, approval.answer);
  const actor = { kind: 'user', id: by } as const;
  const refuse = (code: ErrorCode): PerdureError => {
    const message = errorMessage(code, { interaction });
    batch.add('ApprovalRefused', { callId: interaction, by, code, message }, {}, actor);
    return new PerdureError(code, { interaction });
  };
  if (argumentDigest !== undefined && argumentDigest !== approval.argumentDigest) {
    return refuse('PERDURE_INTERACTION_CHANGED');
  }
  if (approval.expiresAt !== undefined && approval.expiresAt <= now) {
    expire(batch, call);
    return refuse('PERDURE_INTERACTION_EXPIRED');
  }
  const why = reason === undefined ? {} : { reason };
  const fact = { callId: interaction, argumentDigest: approval.argumentDigest, decision, by, ...why };
  batch.add('ApprovalResolved', fact, {}, actor);
  return undefined;
}

/** Answers what has expired. Whether there was anything. */
export function expireDue(batch: FactBatch, now: number): boolean {
  const due = askedCalls(batch.state).filter(
    ({ approval, settled }) =>
      settled === undefined && approval.answer === undefined && (approval.expiresAt ?? Number.POSITIVE_INFINITY) <= now,
  );
  for (const call of due) expire(batch, call);
  return due.length > 0;
}

type AskedCall = CallState & { readonly approval: CallApproval };

function askedCalls(state: SessionState): readonly AskedCall[] {
  return openCalls(state).filter((call): call is AskedCall => call.approval !== undefined);
}

/** A call of the host belongs to no turn, and its parts do not either. */
function turnOf(state: SessionState, call: CallState): string | null {
  return wholeOf(state, call)?.origin === 'host' ? null : (currentTurn(state)?.turnId ?? null);
}

function expire(batch: FactBatch, { callId, approval }: AskedCall): void {
  const { argumentDigest, onExpiry: decision = 'deny' } = approval;
  const fact = { callId, argumentDigest, decision, by: 'expiry', isExpiry: true } as const;
  batch.add('ApprovalResolved', fact, {}, { kind: 'node' });
}

function answered(
  interaction: string,
  { by, decision }: { readonly by: string; readonly decision: string },
): PerdureError {
  return new PerdureError('PERDURE_INTERACTION_ANSWERED', { interaction, by, decision });
}

/** The answer to a call of a step that is over. Only for whoever comes too late: it reads the whole stream. */
async function earlierAnswer(
  { work: { store, journal } }: LoadedSession,
  callId: string,
): Promise<PayloadOf<'ApprovalResolved'> | undefined> {
  for await (const page of readChain(store, journal.stream, { from: 0 })) {
    for (const fact of page) {
      if (fact.type !== 'ApprovalResolved') continue;
      const payload = journal.registry.read(fact).payload as PayloadOf<'ApprovalResolved'>;
      if (payload.callId === callId) return payload;
    }
  }
  return undefined;
}
