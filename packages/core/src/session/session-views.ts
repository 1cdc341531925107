import type { SessionKey } from '@perdure/events';
import {
  PerdureError,
  type MessagePage,
  type MessagesOptions,
  type SessionInfo,
  type SessionSnapshotV1,
  type SnapshotRun,
} from '@perdure/plugin-api';
import type { Journal } from './journal.js';
import { formatCursor } from '../live/cursor.js';
import { listRuns, runSnapshotOf, type RunSight } from '../runs/run-list.js';
import { SessionIndex } from './session-index.js';
import type { FoldedSession } from './session-loader.js';
import { activeRun, currentTurn, type SessionState } from './session-state.js';

/** What is known of a session at a revision. */
export type SessionSight = Pick<Journal, 'key' | 'state' | 'head' | 'hash' | 'time'>;

/** A session as `info()` shows it. */
export function sessionInfo(journal: SessionSight): SessionInfo {
  const { state, head, hash, key } = journal;
  const turn = currentTurn(state);
  const run = turn && activeRun(turn);
  const { owner, epoch } = state.ownership;
  return {
    id: key.id,
    agentId: state.identity?.agentId ?? '',
    workspace: state.identity?.workspace ?? null,
    parent: state.identity?.parent ?? null,
    root: state.identity?.root ?? key.id,
    forkedFrom: state.identity?.forkedFrom ?? null,
    model: state.model ?? null,
    approvals: state.approvals ?? null,
    createdAt: state.identity?.createdAt ?? 0,
    updatedAt: journal.time,
    messages: state.messages.length,
    usage: state.usage,
    turn:
      turn === undefined
        ? null
        : {
            id: turn.turnId,
            status: run === undefined ? 'waiting' : 'running',
            runId: turn.runs.at(-1)?.runId ?? null,
          },
    owner: owner === undefined ? null : { node: owner.node, epoch },
    revision: head,
    hash,
    cursor: formatCursor(head),
    readOnly: state.newer === undefined ? null : { type: state.newer.type, revision: state.newer.revision },
  };
}

/** A page of messages, the newest or those before a sequence. Throws PERDURE_INPUT_INVALID. */
export function messagePage(state: SessionState, options: MessagesOptions): MessagePage {
  const { beforeSequence, limit = 100 } = options;
  assertPositive('beforeSequence', beforeSequence);
  assertPositive('limit', limit);
  const end = Math.min(state.messages.length, (beforeSequence ?? Number.POSITIVE_INFINITY) - 1);
  const start = Math.max(0, end - limit);
  return { items: state.messages.slice(start, end), total: state.messages.length, hasMore: start > 0 };
}

function assertPositive(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return;
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: 'it is a whole number from 1 on' });
}

/** A session in its exchange form. */
export function sessionSnapshot(key: SessionKey, { state, revision, hash, time }: FoldedSession): SessionSnapshotV1 {
  const index = new SessionIndex(() => state);
  const { identity, labels } = state;
  const artifacts = [...state.messages].flatMap((message) =>
    message.role === 'tool' ? message.parts.flatMap(({ artifact }) => (artifact === undefined ? [] : [artifact])) : [],
  );
  return {
    schema_version: 1,
    session: {
      id: key.id,
      config: { name: identity?.agentId ?? '', workspace: identity?.workspace ?? null, storage_type: 'event-stream' },
      state: state.open.length > 0 ? 'Active' : 'Completed',
      messages: [...state.messages],
      total_usage: state.usage,
      model_name: state.model ?? state.setup?.model.name ?? null,
      tool_names: state.setup?.tools.names ?? [],
      created_at: Math.floor((identity?.createdAt ?? 0) / 1_000),
      updated_at: Math.floor(time / 1_000),
      ...(labels.tenantId === undefined ? {} : { tenant_id: labels.tenantId }),
      ...(labels.principal === undefined ? {} : { principal: labels.principal }),
      ...(labels.agentTemplateId === undefined ? {} : { agent_template_id: labels.agentTemplateId }),
      ...(labels.correlationId === undefined ? {} : { correlation_id: labels.correlationId }),
      revision,
      hash,
    },
    run_records: runRecords({ sessionId: key.id, state, index, head: revision, time }),
    artifacts: artifacts.map(({ digest, bytes }) => ({ artifact_uri: digest, original_bytes: bytes })),
    retained_artifact_uris: artifacts.map(({ digest }) => digest),
    trace_events: [],
    verification_reports: [],
    subagent_tasks: [],
  };
}

function runRecords(sight: RunSight): SnapshotRun[] {
  return listRuns(sight.state).map((listed) => {
    const run = runSnapshotOf(listed, sight);
    return {
      id: run.id,
      session_id: run.sessionId,
      turn_id: run.turnId,
      // The exchange form has no word for a run whose turn went on in another.
      status: run.status === 'handed-over' || run.status === 'superseded' ? 'cancelled' : run.status,
      prompt: run.prompt,
      created_at_ms: run.createdAt,
      updated_at_ms: run.updatedAt,
      ...(run.resultText === undefined ? {} : { result_text: run.resultText }),
      ...(run.error === undefined ? {} : { error: run.error.message }),
      event_count: run.eventCount,
    };
  });
}
