import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { jsonValue } from './json.js';
import { callOrigin, effectContract, gateDecision } from './tool.js';

/**
 * A call waits for a person. It holds the final arguments and what the gates said so far, so that whoever answers, and
 * whoever goes on afterwards, goes by the same: after the answer these gates are not asked again.
 */
export const approvalRequested = defineEvent({
  type: 'ApprovalRequested',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    callId: z.string(),
    name: z.string(),
    /** Of a call that no answer holds: who made it, and the call of which it is a part. */
    origin: callOrigin.exactOptional(),
    parent: z.string().exactOptional(),
    input: jsonValue,
    effect: effectContract,
    argumentDigest: z.string(),
    /** Why someone is asked, and a rule that would have allowed the call. */
    reason: z.string().exactOptional(),
    suggestion: z.string().exactOptional(),
    gates: z.array(gateDecision),
    policy: z.string(),
    /** Epoch milliseconds, and what counts as the answer then. */
    expiresAt: z.int().exactOptional(),
    onExpiry: z.enum(['allow', 'deny']).exactOptional(),
  }),
  wire: {
    type: 'confirmation_required',
    payload: (fact) => ({
      tool_id: fact.callId,
      tool_name: fact.name,
      origin: fact.origin,
      parent_id: fact.parent,
      args: fact.input,
      argument_digest: fact.argumentDigest,
      reason: fact.reason,
      suggestion: fact.suggestion,
      expires_at: fact.expiresAt,
    }),
  },
  isDetail: (fact) => fact.origin === undefined,
});

/** The one answer to a request: of a person, or of its expiry. */
export const approvalResolved = defineEvent({
  type: 'ApprovalResolved',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    callId: z.string(),
    argumentDigest: z.string(),
    decision: z.enum(['allow', 'deny']),
    by: z.string(),
    reason: z.string().exactOptional(),
    isExpiry: z.literal(true).exactOptional(),
  }),
  wire: {
    types: ['confirmation_received', 'confirmation_timeout'],
    project: (fact) => {
      const isAllowed = fact.decision === 'allow';
      if (fact.isExpiry === true) {
        const payload = { tool_id: fact.callId, action_taken: isAllowed ? 'auto_approved' : 'rejected' };
        return [{ type: 'confirmation_timeout', payload }];
      }
      const payload = { tool_id: fact.callId, approved: isAllowed, by: fact.by, reason: fact.reason ?? null };
      return [{ type: 'confirmation_received', payload }];
    },
  },
});

/** Someone answered a request in a way that could not count. It changes nothing, and auditors see it. */
export const approvalRefused = defineEvent({
  type: 'ApprovalRefused',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ callId: z.string(), by: z.string(), code: z.string(), message: z.string() }),
  wire: {
    type: 'confirmation_refused',
    payload: (fact) => ({ tool_id: fact.callId, by: fact.by, code: fact.code, message: fact.message }),
  },
});
