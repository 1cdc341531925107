import type { JsonValue, Usage } from '@perdure/events';
import type { Message } from '../session/message.js';

/** Keeps whole sessions in their exchange form. A save is one atomic call: readers see the old one or the new one. */
export interface SnapshotStore {
  readonly name: string;
  /** Without it `save` answers PERDURE_SNAPSHOT_UNSUPPORTED. */
  readonly atomic: boolean;
  save(key: string, snapshot: SessionSnapshotV1): Promise<void>;
  load(key: string): Promise<SessionSnapshotV1 | undefined>;
  list(): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A session as it is exchanged with other systems: one JSON value, snake_case. */
export interface SessionSnapshotV1 {
  readonly schema_version: 1;
  readonly session: SnapshotSession;
  readonly run_records: readonly SnapshotRun[];
  readonly artifacts: readonly { readonly artifact_uri: string; readonly original_bytes: number }[];
  readonly retained_artifact_uris: readonly string[];
  readonly trace_events: readonly JsonValue[];
  readonly verification_reports: readonly JsonValue[];
  readonly subagent_tasks: readonly JsonValue[];
}

export interface SnapshotSession {
  readonly id: string;
  readonly config: { readonly name: string; readonly workspace: string | null; readonly storage_type: string };
  readonly state: 'Active' | 'Completed';
  readonly messages: readonly Message[];
  readonly total_usage: Usage;
  readonly model_name: string | null;
  readonly tool_names: readonly string[];
  /** Seconds. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly tenant_id?: string;
  readonly principal?: string;
  readonly agent_template_id?: string;
  readonly correlation_id?: string;
  /** Where the snapshot stands in the session's stream, and the chain's hash there. */
  readonly revision: number;
  readonly hash: string;
}

export interface SnapshotRun {
  readonly id: string;
  readonly session_id: string;
  readonly turn_id: string;
  readonly status: 'created' | 'executing' | 'completed' | 'failed' | 'cancelled';
  readonly prompt: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly result_text?: string;
  readonly error?: string;
  readonly event_count: number;
}
