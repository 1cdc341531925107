import {
  DEFERRED_IN_SNAPSHOTS,
  SNAPSHOT_VERSION,
  type FactRegistry,
  type SessionKey,
  type SessionSnapshotV1,
  type SnapshotArtifact,
  type SnapshotRun,
} from '@perdure/events';
import { shownMode } from '../children/stricter.js';
import { sessionStream } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { readChain } from '../session/chain-reader.js';
import { SessionIndex } from '../session/session-index.js';
import type { FoldedSession } from '../session/session-loader.js';
import type { SessionState } from '../session/session-state.js';
import { isWaiting } from '../session/waiting.js';
import { listRuns, runSnapshotOf, type RunSight } from '../runs/run-list.js';
import { traceStream, type StreamTrace } from './trace-stream.js';

/** Where the facts of a session are read. */
export interface SnapshotSource {
  readonly store: EventStore;
  readonly facts: FactRegistry;
}

/**
 * A session in its exchange form, as it was at a revision. It is made of stored text alone: the same stream gives the
 * same bytes, on any node.
 */
export async function takeSnapshot(
  { store, facts }: SnapshotSource,
  key: SessionKey,
  at: FoldedSession,
): Promise<SessionSnapshotV1> {
  const pages = readChain(store, sessionStream(key), { from: 0 }, { until: at.revision + 1 });
  return snapshotOf(key, at, await traceStream(pages, facts));
}

function snapshotOf(
  key: SessionKey,
  { state, revision, hash, time }: FoldedSession,
  { events, lastUsage }: StreamTrace,
): SessionSnapshotV1 {
  const index = new SessionIndex(() => state);
  const { identity, labels, setup } = state;
  const artifacts = artifactsOf(state);
  const mode = shownMode(state);
  const hidden = hiddenSequences(state);
  return {
    schema_version: SNAPSHOT_VERSION,
    session: {
      id: key.id,
      config: {
        name: identity?.agentId ?? '',
        workspace: identity?.workspace ?? null,
        storage_type: 'event-stream',
        system_prompt: state.system?.map(({ content }) => content).join('\n\n') ?? null,
        confirmation_policy: mode === undefined ? null : { mode },
        permission_policy: setup?.rules ?? null,
      },
      state: stateWord(state),
      messages: [...state.messages],
      ...(state.summary === undefined ? {} : { context_summary: state.summary }),
      ...(hidden.length === 0 ? {} : { context_hidden: hidden }),
      context_usage: { used_tokens: lastUsage, max_tokens: null, percent: null, turns: state.ended.length },
      total_usage: state.usage,
      model_name: state.model ?? setup?.model.name ?? null,
      llm_config: setup === undefined ? null : { provider: setup.model.provider, model: setup.model.modelId },
      tool_names: setup?.tools.names ?? [],
      created_at: Math.floor((identity?.createdAt ?? 0) / 1_000),
      updated_at: Math.floor(time / 1_000),
      cost_records: [],
      tasks: [],
      ...(identity?.parent === undefined ? {} : { parent_id: identity.parent }),
      ...(labels.tenantId === undefined ? {} : { tenant_id: labels.tenantId }),
      ...(labels.principal === undefined ? {} : { principal: labels.principal }),
      ...(labels.agentTemplateId === undefined ? {} : { agent_template_id: labels.agentTemplateId }),
      ...(labels.correlationId === undefined ? {} : { correlation_id: labels.correlationId }),
      revision: Math.max(0, revision),
      hash,
    },
    artifacts,
    retained_artifact_uris: [...new Set(artifacts.map(({ artifact_uri: uri }) => uri))].sort(),
    trace_events: events,
    run_records: runRecords({ sessionId: key.id, state, index, head: revision, time }),
    verification_reports: [],
    subagent_tasks: [],
    deferred: DEFERRED_IN_SNAPSHOTS,
  };
}

function stateWord(state: SessionState): 'Active' | 'Paused' | 'Completed' | 'Error' {
  if (state.open.length > 0) return isWaiting(state) ? 'Paused' : 'Active';
  return state.ended.at(state.ended.length - 1)?.status === 'failed' ? 'Error' : 'Completed';
}

/** What models are not shown and will not be: the rest is in the context, or waits to come into it. */
function hiddenSequences(state: SessionState): readonly number[] {
  const waiting = [...state.notices, ...state.open.flatMap((turn) => turn.waiting)];
  const seen = new Set([...state.context, ...waiting.map(({ message }) => message)]);
  return [...state.messages].flatMap(({ sequence }, place) => (seen.has(place) ? [] : [sequence]));
}

function artifactsOf(state: SessionState): readonly SnapshotArtifact[] {
  return [...state.messages].flatMap(({ role, parts }) =>
    parts.flatMap((part) => {
      const artifact = 'artifact' in part ? part.artifact : undefined;
      if (artifact === undefined) return [];
      const named = role === 'tool' && part.type === 'tool-result' ? { tool_name: part.name } : {};
      const { digest, bytes, mediaType } = artifact;
      return [{ artifact_uri: digest, ...named, media_type: mediaType, original_bytes: bytes }];
    }),
  );
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
