import { z } from 'zod';

/** Who may append a fact. `first` opens a stream, `take-over` claims it, `input` is open to anyone, `owner` is not. */
export type Lane = 'first' | 'take-over' | 'owner' | 'input';

/** Who did what a fact tells. `id` names the model, the person or service of the host, or the node. */
export const actor = z.strictObject({
  kind: z.enum(['model', 'user', 'host', 'node']),
  id: z.string().exactOptional(),
});
export type Actor = z.output<typeof actor>;

/** The host's labels. They are opaque here: carried everywhere, never interpreted. */
export const labels = z.strictObject({
  tenantId: z.string().exactOptional(),
  principal: z.string().exactOptional(),
  agentTemplateId: z.string().exactOptional(),
  correlationId: z.string().exactOptional(),
});
export type Labels = z.output<typeof labels>;

/**
 * What is stored beside each payload.
 *
 * `epoch` is the ownership that was current when the fact was written, `time` is the host clock in epoch milliseconds,
 * `essential` marks a plugin's fact that a build without the plugin must not run past, and `hash` closes the text: it
 * is always the last member (see the hash rule).
 */
export const factMetadata = z.object({
  sessionId: z.string(),
  turnId: z.string().exactOptional(),
  runId: z.string().exactOptional(),
  stepId: z.string().exactOptional(),
  ...labels.shape,
  causationId: z.string().exactOptional(),
  actor,
  lane: z.enum(['first', 'take-over', 'owner', 'input']),
  essential: z.boolean().exactOptional(),
  epoch: z.int().nonnegative(),
  time: z.int(),
  schemaVersion: z.int().positive(),
  prevHash: z.string(),
  hash: z.string(),
});
export type FactMetadata = z.output<typeof factMetadata>;
