import { sessionStream } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { Composer } from '../compose/composer.js';
import { LiveFeed } from '../live/live-feed.js';
import type { FactBatch } from '../session/fact-batch.js';
import { Journal } from '../session/journal.js';
import { LoadedSession } from '../session/loaded-session.js';
import { loadSession } from '../session/session-loader.js';
import { openStateSnapshot } from '../project/state-snapshot.js';
import type { SessionWork } from '../turn/session-work.js';
import type { SessionConfig } from './agent-options.js';
import type { AgentView } from './agent-view.js';
import type { HostServices } from './host-services.js';

/** Reads a session from the store and puts together what works on it. `snapshot` is the revision of its newest snapshot. */
export async function openSession(
  services: HostServices,
  agentId: string,
  config: SessionConfig,
  agent: () => AgentView,
): Promise<{ readonly loaded: LoadedSession; readonly snapshot: number }> {
  const { store, env, redaction } = services;
  const { key } = config;
  const batchContext = { sessionId: key.id, env, redact: <Value>(value: Value): Value => redaction.redact(value) };
  const start = await openStateSnapshot(services, key);
  const folded = await loadSession(store, sessionStream(key), services.facts, start);
  const { identity } = folded.state;
  if (identity !== undefined && identity.agentId !== agentId) {
    const reason = `the session belongs to the agent "${identity.agentId}"`;
    throw new PerdureError('PERDURE_SESSION_CONFIGURATION', { field: 'agentId', reason });
  }
  const journal = new Journal(key, store, services.facts, batchContext, folded);
  const work: SessionWork = {
    key,
    journal,
    feed: new LiveFeed(),
    composer: new Composer(key.id),
    store,
    artifacts: services.artifacts,
    env,
    redaction,
    secrets: services.secrets,
    batchContext,
    lease: services.lease,
    logger: services.logger,
    plugins: services.plugins,
    agent,
  };
  const loaded = new LoadedSession(work, services.config.leaseTtlMs, (batch) => create(batch, agentId, config));
  return { loaded, snapshot: start.revision };
}

/** The first fact of a session, with its first input. */
function create(batch: FactBatch, agentId: string, config: SessionConfig): void {
  if (batch.state.identity !== undefined) return;
  const { workspace, model, labels } = config;
  const fact = {
    agentId,
    labels: { ...labels },
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
  };
  batch.add('SessionCreated', fact, {}, { kind: 'host' });
}
