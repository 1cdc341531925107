import type { Actor, CoreFact } from '@perdure/events';
import { PerdureError, type ClusterEvent } from '@perdure/plugin-api';
import { z } from 'zod';
import type { FactBatch } from './fact-batch.js';

const text = z.string().min(1).max(1_000);
const shape = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('budget_threshold_hit'),
    resource: text,
    kind: z.enum(['soft', 'hard']),
    consumed: z.number(),
    limit: z.number(),
    message: text.exactOptional(),
  }),
  z
    .strictObject({
      type: z.literal('passivation_requested'),
      reason: text,
      deadline_ms: z.int().nonnegative().exactOptional(),
      graceMs: z.int().nonnegative().exactOptional(),
    })
    .refine(({ deadline_ms, graceMs }) => deadline_ms === undefined || graceMs === undefined, {
      path: ['graceMs'],
      error: 'there is a deadline_ms already',
    }),
  z.strictObject({
    type: z.literal('peer_invocation'),
    from_session_id: text,
    from_tenant_id: text.exactOptional(),
    correlation_id: text.exactOptional(),
  }),
]) satisfies z.ZodType<ClusterEvent>;

const HOST: Actor = { kind: 'host' };

/** Checks an event from outside. Throws PERDURE_INPUT_INVALID naming the field. */
export function checkClusterEvent(event: unknown): ClusterEvent {
  const parsed = shape.safeParse(event);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = ['event', ...(issue?.path ?? []), ...unknown].join('.');
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: issue?.message ?? 'not valid' });
}

/**
 * Adds the fact of an event. A passivation is of the ownership that there is when it is stored: a later owner has
 * nothing to do with it, and where nobody has the session it is met already.
 */
export function addEvent(batch: FactBatch, event: ClusterEvent, now: number): void {
  const fact = factOf(event, batch.state.ownership.epoch, now);
  batch.add(fact.type, fact.payload, {}, HOST);
}

function factOf(
  event: ClusterEvent,
  epoch: number,
  now: number,
): Extract<CoreFact, { type: 'BudgetThresholdHit' | 'PassivationRequested' | 'PeerInvoked' }> {
  switch (event.type) {
    case 'budget_threshold_hit': {
      const { type: _, ...payload } = event;
      return { type: 'BudgetThresholdHit', payload };
    }
    case 'passivation_requested': {
      const { reason, deadline_ms: deadline, graceMs } = event;
      const deadlineMs = graceMs === undefined ? deadline : now + graceMs;
      const until = deadlineMs === undefined ? {} : { deadlineMs };
      return { type: 'PassivationRequested', payload: { epoch, reason, ...until } };
    }
    case 'peer_invocation': {
      const { from_session_id: fromSessionId, from_tenant_id: fromTenantId, correlation_id: correlationId } = event;
      const tenant = fromTenantId === undefined ? {} : { fromTenantId };
      const correlation = correlationId === undefined ? {} : { correlationId };
      return { type: 'PeerInvoked', payload: { fromSessionId, ...tenant, ...correlation } };
    }
  }
}
