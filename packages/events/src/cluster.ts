import { z } from 'zod';
import { defineEvent } from './define-event.js';

/** A budget came near its limit (`soft`) or kept a call from being made (`hard`). `resource` is the host's own word. */
export const budgetThresholdHit = defineEvent({
  type: 'BudgetThresholdHit',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    resource: z.string(),
    kind: z.enum(['soft', 'hard']),
    consumed: z.number(),
    limit: z.number(),
    message: z.string().exactOptional(),
  }),
  wire: {
    type: 'budget_threshold_hit',
    payload: ({ resource, kind, consumed, limit, message }) => ({ resource, kind, consumed, limit, message }),
  },
});

/**
 * Someone wants the session off the node that owns it in `epoch`: it goes to the next step boundary, or as far as it
 * comes until `deadlineMs` (epoch milliseconds), and is let go there.
 */
export const passivationRequested = defineEvent({
  type: 'PassivationRequested',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    epoch: z.int().nonnegative(),
    reason: z.string(),
    deadlineMs: z.int().exactOptional(),
  }),
  wire: {
    type: 'passivation_requested',
    payload: (fact) => ({ reason: fact.reason, deadline_ms: fact.deadlineMs, epoch: fact.epoch }),
  },
});

/** Another session called this one. For audit and traces; it carries no message. */
export const peerInvoked = defineEvent({
  type: 'PeerInvoked',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    fromSessionId: z.string(),
    fromTenantId: z.string().exactOptional(),
    correlationId: z.string().exactOptional(),
  }),
  wire: {
    type: 'peer_invocation',
    payload: (fact) => ({
      from_session_id: fact.fromSessionId,
      from_tenant_id: fact.fromTenantId,
      correlation_id: fact.correlationId,
    }),
  },
});
