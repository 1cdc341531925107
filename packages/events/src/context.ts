import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { artifactReference } from './parts.js';

/** One block of the system prompt with where it comes from. */
export const systemBlock = z.strictObject({
  source: z.enum(['instruction', 'core', 'plugin', 'session']),
  name: z.string(),
  content: z.string(),
});
export type SystemBlock = z.output<typeof systemBlock>;

/** The system prompt is frozen as `blocks`, or follows the agent again when `blocks` is absent. */
export const systemSnapshotTaken = defineEvent({
  type: 'SystemSnapshotTaken',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ changeId: z.string(), blocks: z.array(systemBlock).exactOptional() }),
  wire: { type: 'system_snapshot_taken', payload: (fact) => ({ frozen: fact.blocks !== undefined }) },
});

/** Why a conversation was compacted: someone asked, it came near the window, or a provider refused its length. */
export const compactionReason = z.enum(['request', 'threshold', 'overflow']);
export type CompactionReason = z.output<typeof compactionReason>;

/**
 * What models see of a conversation is from here on `summary`, the prompts at `prompts`, and the last `kept` messages.
 * The stream keeps all of it.
 */
export const historyCompacted = defineEvent({
  type: 'HistoryCompacted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    /** The request that asked for it; absent when the runtime did it by itself. */
    changeId: z.string().exactOptional(),
    reason: compactionReason.exactOptional(),
    /** Whether a model wrote the summary, or it was put together without one. */
    method: z.enum(['model', 'fallback']).exactOptional(),
    summary: z.string(),
    /** How many messages of the request the summary stands for, and how many follow it. */
    summarised: z.int().nonnegative(),
    kept: z.int().nonnegative(),
    /** Places, in what models saw before, of current prompts that stand before the kept tail and stay. */
    prompts: z.array(z.int().nonnegative()).exactOptional(),
    /** What it was decided with, in estimated tokens: of the whole request before and after, and the model's window. */
    tokensBefore: z.int().nonnegative().exactOptional(),
    tokensAfter: z.int().nonnegative().exactOptional(),
    window: z.int().positive().exactOptional(),
    /** What plain estimates were multiplied by, from the usage that the provider reported. */
    correction: z.number().positive().exactOptional(),
  }),
  wire: {
    type: 'context_compacted',
    payload: ({ summarised, kept, prompts = [], tokensBefore, window, ...fact }) => ({
      before_messages: summarised + prompts.length + kept,
      after_messages: prompts.length + kept + 1,
      percent_before:
        tokensBefore === undefined || window === undefined ? undefined : Math.round((100 * tokensBefore) / window),
      summary: fact.summary,
      change_id: fact.changeId,
      reason: fact.reason,
      method: fact.method,
      tokens_before: tokensBefore,
      tokens_after: fact.tokensAfter,
      window,
    }),
  },
});

/** Bytes were put into the artifact store; they were durable there before this fact. */
export const artifactStored = defineEvent({
  type: 'ArtifactStored',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ artifact: artifactReference, callId: z.string().exactOptional() }),
  wire: {
    type: 'artifact_stored',
    payload: (fact) => ({
      digest: fact.artifact.digest,
      bytes: fact.artifact.bytes,
      media_type: fact.artifact.mediaType,
      id: fact.callId,
    }),
  },
});
