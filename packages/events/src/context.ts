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

/** Everything before the kept tail is from here on shown to models as `summary`. The stream keeps all of it. */
export const historyCompacted = defineEvent({
  type: 'HistoryCompacted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    changeId: z.string(),
    summary: z.string(),
    /** How many messages of the request the summary stands for, and how many follow it. */
    summarised: z.int().nonnegative(),
    kept: z.int().nonnegative(),
  }),
  wire: {
    type: 'context_compacted',
    payload: (fact) => ({
      before_messages: fact.summarised + fact.kept,
      after_messages: fact.kept + 1,
      summary: fact.summary,
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
