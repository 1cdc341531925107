import { noUsage, type SessionSnapshotV1 } from '@perdure/events';
import type { Message } from '@perdure/plugin-api';

/** A snapshot that is whole only if every part of it tells the same number of messages. */
export function snapshotOf(id: string, messages: number): SessionSnapshotV1 {
  return {
    schema_version: 1,
    session: {
      id,
      config: { name: 'agent', workspace: null, storage_type: 'file' },
      state: 'Active',
      messages: Array.from({ length: messages }, (_, index) => message(index, messages)),
      total_usage: { ...noUsage, outputTokens: messages },
      model_name: 'default',
      tool_names: ['read', 'write'],
      created_at: 1_700_000_000,
      updated_at: 1_700_000_000 + messages,
      tenant_id: 'acme',
      revision: messages,
      hash: `${messages}`.padStart(64, '0'),
    },
    run_records: [],
    artifacts: [{ artifact_uri: 'artifact://1', original_bytes: messages }],
    retained_artifact_uris: ['artifact://1'],
    trace_events: [{ sequence: messages, timestamp_ms: 1, kind: 'PromptAccepted', text: 'ünï 😀 \u2028' }],
    verification_reports: [null, 1.5, [messages]],
    subagent_tasks: [],
    // A member that this build does not know.
    session_review: { findings: [messages] },
  };
}

function message(index: number, messages: number): Message {
  return {
    id: `m${index}`,
    sequence: index + 1,
    revision: 1,
    turnId: 't1',
    createdAt: 1_700_000_000_000 + index,
    role: 'user',
    mode: 'turn',
    parts: [{ type: 'text', text: `message ${index + 1} of ${messages}` }],
  };
}
