import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { jsonValue } from './json.js';
import { artifactReference, filePart, type ArtifactReference, type FilePart } from './parts.js';
import { present } from './wire.js';
import { failure } from './run.js';

/**
 * What may be done with a call that was started and never settled.
 *
 * `read` and `idempotent` are run again with the same idempotency key; `reconcile` is asked what happened; `once` is
 * settled as `unknown` and never run again by itself.
 */
export const effectContract = z.enum(['read', 'idempotent', 'reconcile', 'once']);
export type EffectContract = z.output<typeof effectContract>;

/**
 * Who asked for a call: the model in an answer, another call of which it is a part, a session that handed work to this
 * one, the runtime for its own purposes, or the host directly.
 */
export const callOrigin = z.enum(['model', 'nested', 'delegated', 'runtime', 'host']);
export type CallOrigin = z.output<typeof callOrigin>;

/** Whether the host vouches for a call that it makes itself, or wants it governed as one of the model. */
export const controlPlane = z.enum(['trusted', 'governed']);
export type ControlPlane = z.output<typeof controlPlane>;

export const gateDecision = z.strictObject({
  gate: z.string(),
  decision: z.enum(['allow', 'deny']),
  code: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  rule: z.string().exactOptional(),
});
export type GateDecision = z.output<typeof gateDecision>;

/** All gates of a call have answered. A call that a gate denied is settled as `denied` and never started. */
export const toolCallDecided = defineEvent({
  type: 'ToolCallDecided',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    callId: z.string(),
    name: z.string(),
    origin: callOrigin,
    /** The call of which a nested one is a part. */
    parent: z.string().exactOptional(),
    /** Of a call of the host. */
    plane: controlPlane.exactOptional(),
    /** The arguments of a call that no answer holds, and those that a gate rewrote. */
    input: jsonValue.exactOptional(),
    decision: z.enum(['allow', 'deny']),
    gates: z.array(gateDecision),
    policy: z.string(),
    effect: effectContract,
    argumentDigest: z.string(),
    /** The call consists of asking people: it is never started, and what they answer settles it. */
    hasQuestions: z.literal(true).exactOptional(),
  }),
  wire: {
    types: ['tool_request_bound', 'permission_denied'],
    project: (fact, lookup) => {
      if (fact.decision === 'allow') {
        const snapshot = {
          origin: fact.origin,
          ...(fact.parent === undefined ? {} : { parent_id: fact.parent }),
          ...(fact.plane === undefined ? {} : { plane: fact.plane }),
          effect: fact.effect,
          policy: fact.policy,
          argument_digest: fact.argumentDigest,
          gates: fact.gates,
        };
        return [{ type: 'tool_request_bound', payload: { tool_id: fact.callId, tool_name: fact.name, snapshot } }];
      }
      const denied = fact.gates.find((gate) => gate.decision === 'deny');
      const args = fact.input ?? lookup.call(fact.callId)?.input ?? null;
      const payload = { tool_id: fact.callId, tool_name: fact.name, args, reason: denied?.reason ?? 'denied' };
      return [{ type: 'permission_denied', payload: { ...payload, code: denied?.code ?? 'PERDURE_TOOL_DENIED' } }];
    },
  },
  isDetail: (fact) => fact.origin === 'model',
});

/** A tool's effect is about to begin. `idempotencyKey` stays the same for every run of the call that may repeat it. */
export const toolCallStarted = defineEvent({
  type: 'ToolCallStarted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    callId: z.string(),
    attempt: z.int().positive(),
    origin: callOrigin,
    effect: effectContract,
    idempotencyKey: z.string(),
    argumentDigest: z.string(),
  }),
  wire: {
    type: 'tool_execution_start',
    payload: (fact, lookup) => {
      const call = lookup.call(fact.callId);
      return { id: fact.callId, name: call?.name, args: call?.input, attempt: fact.attempt };
    },
  },
  isDetail: (fact) => fact.origin === 'model',
});

/**
 * Where what a tool gives comes from: from the host's own code, from the session's workspace, or from anywhere else. It
 * says how far instructions in it may be believed.
 */
export const trustLabel = z.enum(['trusted', 'workspace', 'external']);
export type TrustLabel = z.output<typeof trustLabel>;

export const settlementStatus = z.enum(['completed', 'failed', 'denied', 'cancelled', 'unknown']);
export type SettlementStatus = z.output<typeof settlementStatus>;

/** The one outcome of a call. `startedAt` is absent when the tool never ran. */
export const toolCallSettled = defineEvent({
  type: 'ToolCallSettled',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    callId: z.string(),
    status: settlementStatus,
    output: jsonValue.exactOptional(),
    /** The whole output, when only an excerpt of it is in `output`. */
    artifact: artifactReference.exactOptional(),
    /** Files that the tool gave beside its output. One that could not be kept names no artifact. */
    files: z.array(filePart).exactOptional(),
    failure: failure.exactOptional(),
    /** Of the output and of what the failure says. Absent when the tool never ran. */
    trust: trustLabel.exactOptional(),
    startedAt: z.int().exactOptional(),
    endedAt: z.int(),
  }),
  wire: {
    type: 'tool_end',
    payload: (fact, lookup) => ({
      id: fact.callId,
      name: lookup.call(fact.callId)?.name,
      status: fact.status,
      output: fact.output ?? fact.failure?.message ?? null,
      exit_code: fact.status === 'completed' ? 0 : 1,
      metadata: metadataOf(fact),
      trust: fact.trust,
      error_kind: fact.failure === undefined ? undefined : { type: fact.failure.code, message: fact.failure.message },
    }),
  },
});

function metadataOf({ artifact, files }: { readonly artifact?: ArtifactReference; readonly files?: FilePart[] }) {
  if (artifact === undefined && files === undefined) return undefined;
  const given = files?.map((file) =>
    present({
      media_type: file.mediaType,
      filename: file.filename,
      digest: file.artifact?.digest,
      bytes: file.artifact?.bytes,
    }),
  );
  return present({ artifact, files: given });
}
