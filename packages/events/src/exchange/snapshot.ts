import { z } from 'zod';
import { jsonValue } from '../json.js';
import { message } from '../message.js';
import { usage } from '../parts.js';

/** The version of the exchange form that this build writes, and the only one that it reads. */
export const SNAPSHOT_VERSION = 1;

const count = z.int().nonnegative();
const id = z.string().min(1);
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** A result that was too large for a fact. `content` is base64, when the bytes travel with the snapshot. */
export const snapshotArtifact = z.looseObject({
  artifact_uri: id,
  artifact_id: z.string().exactOptional(),
  tool_name: z.string().exactOptional(),
  media_type: z.string().exactOptional(),
  original_bytes: count,
  shown_bytes: count.exactOptional(),
  content: z.string().exactOptional(),
});
export type SnapshotArtifact = z.output<typeof snapshotArtifact>;

/** One attempt at a turn. `events` are those that the writer retained of it. Times are epoch milliseconds. */
export const snapshotRun = z.looseObject({
  id,
  session_id: z.string(),
  turn_id: z.string().exactOptional(),
  status: z.enum(['created', 'planning', 'executing', 'verifying', 'completed', 'failed', 'cancelled']),
  prompt: z.string(),
  created_at_ms: count,
  updated_at_ms: count,
  result_text: z.string().exactOptional(),
  error: z.string().exactOptional(),
  event_count: count,
  events: list(z.looseObject({ sequence: count, timestamp_ms: count, event: jsonValue })).exactOptional(),
});
export type SnapshotRun = z.output<typeof snapshotRun>;

/** What a fact tells of itself without its texts: `sequence` is its revision. */
export const snapshotTrace = z.looseObject({ sequence: count, timestamp_ms: count, kind: z.string() });
export type SnapshotTrace = z.output<typeof snapshotTrace>;

export const snapshotTask = z.looseObject({ task_id: id, parent_session_id: z.string() });

export const snapshotSession = z.looseObject({
  id,
  config: z.looseObject({ name: z.string(), workspace: z.string().nullable(), storage_type: z.string() }),
  state: z.enum(['Unknown', 'Active', 'Paused', 'Completed', 'Error']),
  messages: list(message),
  /** What stands for the messages that models are no longer shown; `null` where they are shown all. */
  context_summary: z.string().nullable().exactOptional(),
  /** Sequences of the messages that models are not shown. */
  context_hidden: list(z.int().positive()).exactOptional(),
  context_usage: z
    .looseObject({ used_tokens: count, max_tokens: count.nullable(), percent: z.number().nullable(), turns: count })
    .exactOptional(),
  total_usage: usage,
  model_name: z.string().nullable(),
  llm_config: z.looseObject({ provider: z.string(), model: z.string() }).nullable().exactOptional(),
  tool_names: list(z.string()),
  /** Seconds. */
  created_at: count,
  updated_at: count,
  parent_id: z.string().exactOptional(),
  tenant_id: z.string().exactOptional(),
  principal: z.string().exactOptional(),
  agent_template_id: z.string().exactOptional(),
  correlation_id: z.string().exactOptional(),
  /** Where the snapshot stands in the session's stream, and the chain's hash there; none of a session without one. */
  revision: count.exactOptional(),
  hash: z.string().exactOptional(),
});
export type SnapshotSession = z.output<typeof snapshotSession>;

/**
 * A session as it is exchanged with other systems: one JSON value, snake_case but for the messages. Members that this
 * build does not know are kept.
 */
export const sessionSnapshotV1 = z.looseObject({
  schema_version: z.literal(SNAPSHOT_VERSION),
  session: snapshotSession,
  artifacts: list(snapshotArtifact),
  retained_artifact_uris: list(z.string()),
  trace_events: list(snapshotTrace),
  run_records: list(snapshotRun),
  verification_reports: list(jsonValue),
  subagent_tasks: list(snapshotTask),
  /** Members that are empty because the writer has no such feature, by their ids. */
  deferred: list(z.string()).exactOptional(),
});
export type SessionSnapshotV1 = z.output<typeof sessionSnapshotV1>;

/** What this build leaves empty for want of the feature. A reader cannot take such a member for "there were none". */
export const DEFERRED_IN_SNAPSHOTS: readonly string[] = [
  'session.cost_records',
  'session.tasks',
  'session.thinking_budget',
  'session.total_cost',
  'subagent_tasks',
  'verification_reports',
];
