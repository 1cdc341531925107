import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { jsonValue } from './json.js';

/**
 * A node takes the session; whoever appends an owner fact with a smaller epoch from here on is refused. An owner whose
 * lease ran out, and whose session nobody has taken meanwhile, says by the same epoch that it goes on:
 * `lease-renewed`. Stored facts may have `owner-dead` there, which then says the same: the owner before is the one that
 * takes it.
 */
export const ownershipTaken = defineEvent({
  type: 'OwnershipTaken',
  version: 1,
  lane: 'take-over',
  schema: z.strictObject({
    node: z.string(),
    incarnation: z.string(),
    epoch: z.int().positive(),
    reason: z.enum(['first', 'released', 'owner-dead', 'lease-renewed', 'take-over']),
  }),
  wire: {
    type: 'ownership_taken',
    payload: (fact) => ({
      node: fact.node,
      incarnation: fact.incarnation,
      epoch: fact.epoch,
      reason: fact.reason,
    }),
  },
});

/** The owner lets the session go: nothing of it is under way, though a turn may wait for people. */
export const ownershipReleased = defineEvent({
  type: 'OwnershipReleased',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ epoch: z.int().positive(), reason: z.enum(['closed', 'passivated']) }),
  wire: { type: 'ownership_released', payload: (fact) => ({ epoch: fact.epoch, reason: fact.reason }) },
});

/** What a node that lost the session still learned of a call. It is shown and settles nothing. */
export const lateResultReported = defineEvent({
  type: 'LateResultReported',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    callId: z.string(),
    epoch: z.int().positive(),
    node: z.string(),
    status: z.enum(['completed', 'failed']),
    output: jsonValue.exactOptional(),
    error: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
  }),
  wire: {
    type: 'late_result_reported',
    payload: (fact) => ({
      id: fact.callId,
      epoch: fact.epoch,
      node: fact.node,
      status: fact.status,
      output: fact.output,
      error: fact.error?.message,
      error_code: fact.error?.code,
    }),
  },
});
