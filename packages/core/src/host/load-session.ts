import { sessionStream, type ActivePlugin, type SessionKey, type SessionProfile } from '@perdure/events';
import { isPerdureError, reasonOf, type HostEnv } from '@perdure/plugin-api';
import type { ChildGround } from '../children/child-ground.js';
import { definitionOf, profileOf } from '../children/make-profile.js';
import { viewOfSession } from '../children/narrow-view.js';
import { Composer } from '../compose/composer.js';
import { SessionFiles } from '../files/session-files.js';
import { LiveFeed } from '../live/live-feed.js';
import type { BatchContext, FactBatch } from '../session/fact-batch.js';
import { Journal } from '../session/journal.js';
import { LoadedSession } from '../session/loaded-session.js';
import { emptySession, loadSession, type FoldedSession } from '../session/session-loader.js';
import type { TurnWaiters } from '../session/turn-waiters.js';
import { SnapshotKeeper } from '../project/snapshot-keeper.js';
import { foldDigest, openStateSnapshot, StateSnapshotWriter } from '../project/state-snapshot.js';
import type { SessionWork } from '../turn/session-work.js';
import type { SessionIdentity } from '../session/session-state.js';
import { StorePatience } from '../session/store-patience.js';
import { sessionConfiguration, type SessionConfig } from './session-options.js';
import type { AgentView } from './agent-view.js';
import type { HostServices } from './host-services.js';
import { assertAgent } from './session-agent.js';
import type { VariableValues } from './variable-values.js';
import { assertParent, placeUnder, type TreePlace } from './session-parent.js';

/** Facts behind the last state snapshot at which the next is written. */
const SNAPSHOT_EVERY = 2_000;

/** Reads a session from the store and puts together what works on it. */
export async function openSession(
  services: HostServices,
  agentId: string,
  config: SessionConfig,
  agent: (plugins: readonly ActivePlugin[] | undefined) => AgentView,
  variables: VariableValues,
  waiters: TurnWaiters,
  children: ChildGround,
): Promise<LoadedSession> {
  const { store, env, redaction } = services;
  const { key } = config;
  const { journal, batchContext, snapshot } = await openJournal(services, key);
  const { identity } = journal.state;
  assertAgent(identity, agentId);
  assertParent(config.parent, journal.state);
  const isUnder = config.parent !== undefined && config.child === undefined && identity === undefined;
  const place = isUnder ? await placeUnder(config.parent, key, services) : undefined;
  const profile = config.agent === undefined ? undefined : chosenProfile(config.agent, identity, agent(undefined));
  const narrowed = (view: AgentView): AgentView => viewOfSession(view, journal.state.identity?.profile);
  const work: SessionWork = {
    key,
    journal,
    feed: new LiveFeed(),
    composer: new Composer(key.id, redaction, (source, reason) => {
      services.logger.log('warn', 'Blocks of the system prompt are left out.', { session: key.id, source, reason });
    }),
    store,
    files: filesOf(services, journal, config, () => agent(journal.state.plugins)),
    env,
    redaction,
    secrets: services.secrets,
    batchContext,
    lease: services.lease,
    logger: services.logger,
    children,
    variables,
    agent: (state = journal.state) => narrowed(agent(state.plugins)),
    newestAgent: () => narrowed(agent(undefined)),
  };
  const keeper = keepSnapshots(services, journal, snapshot);
  const { leaseTtlMs } = services.config;
  return new LoadedSession(
    work,
    leaseTtlMs,
    (batch) => create(batch, agentId, config, { ...place, profile }, env),
    keeper,
    waiters,
  );
}

/** The journal of a session as it is stored, and the revision of the state snapshot that it was opened with. */
export async function openJournal(
  services: HostServices,
  key: SessionKey,
): Promise<{ readonly journal: Journal; readonly batchContext: BatchContext; readonly snapshot: number }> {
  const { store, facts } = services;
  const batchContext = journalContext(services, key);
  const start = await openStateSnapshot(services, key);
  const folded = await loadSession(store, sessionStream(key), facts, { start, openBefore: openBefore(services) });
  const patience = new StorePatience(services.config.storePatienceMs, services.logger, key.id);
  const journal = new Journal(key, store, facts, batchContext, patience, folded);
  return { journal, batchContext, snapshot: start.revision };
}

export function journalContext({ env, redaction, store }: HostServices, key: SessionKey): BatchContext {
  const redact = <Value>(value: Value): Value => redaction.redactFact(value);
  return { sessionId: key.id, env, redact, maxBatch: store.limits.maxBatch };
}

/** The newest state snapshot of a session that holds nothing from a revision on. */
export function openBefore(services: HostServices): (key: SessionKey, until: number) => Promise<FoldedSession> {
  return async (key, until) => {
    const snapshot = await openStateSnapshot(services, key);
    return snapshot.revision < until ? snapshot : emptySession;
  };
}

/** What of the artifact store is this session's. */
function filesOf(
  services: HostServices,
  journal: Journal,
  { key, workspace: given }: SessionConfig,
  agent: () => AgentView,
): SessionFiles {
  const { artifacts: store, artifactCache: cache, redaction, logger } = services;
  const options = () => {
    const { files, limits } = agent().parts;
    return { ...files, outputCharacters: limits.maxOutputCharacters };
  };
  const named = () => journal.state.artifacts;
  const workspace = () => {
    const { identity } = journal.state;
    return identity === undefined ? given : identity.workspace;
  };
  return new SessionFiles({ key, store, cache, redaction, logger, named, options, workspace });
}

function keepSnapshots(services: HostServices, journal: Journal, newest: number): SnapshotKeeper | undefined {
  const { projections, facts, logger } = services;
  if (projections === undefined) return undefined;
  const writer = new StateSnapshotWriter(projections, journal, foldDigest(facts), newest);
  return new SnapshotKeeper(
    journal,
    () => writer.write(),
    SNAPSHOT_EVERY,
    newest,
    journal.state.identity?.forkedFrom?.revision ?? 0,
    (error) => {
      logger.log('warn', 'A state snapshot could not be written.', {
        session: journal.key.id,
        reason: reasonOf(error),
      });
    },
  );
}

interface FirstFact extends Partial<TreePlace> {
  readonly profile: SessionProfile | undefined;
}

/** What narrows the agent, as a caller wants it. Throws PERDURE_SESSION_CONFIGURATION when that is something else. */
function chosenProfile(
  name: string,
  identity: SessionIdentity | undefined,
  agent: AgentView,
): SessionProfile | undefined {
  if (identity !== undefined) {
    const given = identity.profile?.agent;
    if (given === name) return undefined;
    throw sessionConfiguration('agent', `the session has ${given === undefined ? 'none' : `"${given}"`}`);
  }
  try {
    return profileOf(definitionOf(agent, name), agent);
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_CHILD_AGENT_UNKNOWN')) throw error;
    throw sessionConfiguration('agent', `there is no agent "${name}"`);
  }
}

/** The first fact of a session, with its first input. */
function create(batch: FactBatch, agentId: string, config: SessionConfig, first: FirstFact, env: HostEnv): void {
  const { identity } = batch.state;
  if (identity !== undefined) return assertParent(config.parent, batch.state);
  const { workspace, model, labels, parent, child, title, timezone = env.timezone } = config;
  const { profile, ...place } = first;
  const fact = {
    agentId,
    labels: { ...labels },
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
    ...(title === undefined ? {} : { title }),
    ...(timezone === undefined ? {} : { timezone }),
    ...place,
    ...(profile === undefined ? {} : { profile }),
    ...(child === undefined || parent === undefined ? {} : { parent, ...child }),
  };
  batch.add('SessionCreated', fact, {}, { kind: 'host' });
}
