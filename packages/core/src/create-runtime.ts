import { FactRegistry } from '@perdure/events';
import {
  AGENTS,
  ARTIFACT_STORE,
  EVENT_STORE,
  FACTS,
  HOST_ENV,
  LOGGER,
  NODE_PRESENCE,
  PROJECTION_STORE,
  REDACTORS,
  SECRETS,
  SNAPSHOT_STORE,
  WORKSPACES,
  type AgentOptions,
  type AgentRegistry,
  type DrainOptions,
  type DrainReport,
  type ListOptions,
  type NodeInfo,
  type Runtime,
  type SearchOptions,
  type SearchPage,
  type SessionPage,
} from '@perdure/plugin-api';
import { PerdureError, reasonOf } from '@perdure/plugin-api';
import { ByteCache } from './files/byte-cache.js';
import { RuntimeAgent } from './host/agent.js';
import { activePlugin } from './host/agent-plugins.js';
import { resolveAgentOptions } from './host/agent-options.js';
import { Container } from './host/container.js';
import { FailedSessions } from './host/failed-sessions.js';
import type { HostServices } from './host/host-services.js';
import { loadPlugins, type ConfiguredPlugin } from './host/load-plugins.js';
import { OpeningLane } from './host/opening-lane.js';
import { orderPlugins } from './host/order-plugins.js';
import { PluginSet } from './host/plugin-set.js';
import { RunIds } from './host/run-ids.js';
import { resolveRuntimeOptions, type RuntimeConfig, type RuntimeOptions } from './host/runtime-options.js';
import { DrainListener } from './nodes/drain-listener.js';
import { requestDrain } from './nodes/drain-request.js';
import { listNodes, sessionsOf } from './nodes/list-nodes.js';
import { checkDrainOptions, drainNode } from './nodes/drain-node.js';
import { SessionKeeper } from './keeper/session-keeper.js';
import { WaitCount } from './host/wait-count.js';
import { listSessions, type SessionListFilter } from './project/list-sessions.js';
import { searchSessions } from './project/search-sessions.js';
import { Redaction } from './secrets/redaction.js';
import { redactingLogger } from './secrets/redacting-logger.js';
import { SecretRegistry } from './secrets/secret-registry.js';
import { secretsPort } from './secrets/secrets-port.js';
import { NodeLease } from './session/node-lease.js';

/**
 * Puts a runtime together: options are resolved, plugins are loaded, checked together, set up and started in the order
 * of their needs. Throws what hinders it; everything that was started by then is stopped again.
 */
export async function createRuntime(...patches: readonly RuntimeOptions[]): Promise<PerdureRuntime> {
  const config = resolveRuntimeOptions(...patches);
  const container = Container.root();
  const secrets = new SecretRegistry(config.secrets);
  // Until the plugins are there that bring redactors, reports are without registered secrets.
  let redaction = new Redaction(secrets);
  const logger = redactingLogger(config.logger, () => redaction);
  const agents = new Map<string, RuntimeAgent>();
  const registry: AgentRegistry = { get: (id) => agents.get(id), list: () => [...agents.values()] };
  container.set(HOST_ENV, config.env);
  container.set(LOGGER, logger);
  container.set(AGENTS, registry);
  container.set(SECRETS, secretsPort(secrets, container));
  const available = [HOST_ENV, LOGGER, AGENTS, SECRETS];
  const plugins = orderPlugins(await loadPlugins(config.plugins, config.pluginRoot), available);
  const set = new PluginSet(container, logger, config);
  try {
    await set.start(plugins);
    redaction = new Redaction(secrets, container.get(REDACTORS));
    const services = resolveServices(config, container, plugins, { secrets, redaction, logger });
    return new PerdureRuntime(services, set, agents, registry);
  } catch (error) {
    await set.stop();
    throw error;
  }
}

function resolveServices(
  config: RuntimeConfig,
  container: Container,
  plugins: readonly ConfiguredPlugin[],
  guarded: Pick<HostServices, 'secrets' | 'redaction' | 'logger'>,
): HostServices {
  const { env } = config;
  const store = container.get(EVENT_STORE);
  const contributions = container.get(FACTS);
  const facts = new FactRegistry(
    contributions.flatMap(({ events }) => events),
    contributions.flatMap(({ upcasters = [] }) => upcasters),
  );
  const { logger } = guarded;
  const incarnation = env.idGenerator.next('incarnation');
  const lease = new NodeLease(env.nodeId, incarnation, store, container.find(NODE_PRESENCE), logger, {
    ttlMs: config.leaseTtlMs,
  });
  return {
    config,
    container,
    env,
    ...guarded,
    store,
    artifacts: container.find(ARTIFACT_STORE),
    artifactCache: new ByteCache(),
    projections: container.find(PROJECTION_STORE),
    snapshots: container.find(SNAPSHOT_STORE),
    workspaces: container.find(WORKSPACES),
    facts,
    lease,
    opening: new OpeningLane(),
    runIds: new RunIds(),
    plugins: plugins.map(activePlugin),
    waited: new WaitCount(),
    failed: new FailedSessions(),
  };
}

/** A composed runtime. `dispose` ends it in order: agents with their sessions, the node's lease, the plugins. */
export class PerdureRuntime implements Runtime {
  private disposing: Promise<void> | undefined;
  private keeper: SessionKeeper | undefined;
  private listener: DrainListener | undefined;
  readonly drained: Promise<DrainReport>;
  private tellDrained: (report: DrainReport) => void = () => undefined;

  constructor(
    /** What the runtime is made of, for tools that read the store themselves. */
    readonly services: HostServices,
    private readonly set: PluginSet,
    private readonly live: Map<string, RuntimeAgent>,
    readonly agents: AgentRegistry,
  ) {
    this.drained = new Promise((resolve) => (this.tellDrained = resolve));
  }

  agent(options: AgentOptions): RuntimeAgent {
    if (this.disposing !== undefined) throw new PerdureError('PERDURE_STORE_CLOSED');
    const config = resolveAgentOptions(options);
    this.services.secrets.checkVariables(config.env);
    if (this.live.has(config.id)) {
      const reason = `there is an agent "${config.id}"`;
      throw new PerdureError('PERDURE_CONFIGURATION', { field: 'agent.id', reason });
    }
    const agent = new RuntimeAgent(config, this.services, () => this.live.delete(config.id));
    this.live.set(agent.id, agent);
    this.keep();
    return agent;
  }

  /** Sessions of all agents and tenants, for operators. An agent lists its own. */
  sessions(options?: ListOptions, filter?: SessionListFilter): Promise<SessionPage> {
    return listSessions(this.services, filter, options);
  }

  /** The same for those that contain a text; see `Sessions.search`. */
  searchSessions(query: string, options?: SearchOptions, filter?: SessionListFilter): Promise<SearchPage> {
    return searchSessions(this.services, filter, query, options);
  }

  plugins(): ReturnType<Runtime['plugins']> {
    return this.set.status();
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport> {
    if (this.disposing !== undefined) throw new PerdureError('PERDURE_STORE_CLOSED');
    const report = await drainNode(this.services.lease, this.live, checkDrainOptions(options));
    this.tellDrained(report);
    return report;
  }

  join(): Promise<void> {
    return this.services.lease.hold();
  }

  /** The nodes of the store, for operators; it may take as long as a lease lives. */
  nodes(): Promise<readonly NodeInfo[]> {
    return listNodes(this.services);
  }

  /** How many sessions a node has. */
  sessionsOf(node: string): Promise<number> {
    return sessionsOf(this.services, node);
  }

  /** Asks a node to drain, wherever it runs. Throws PERDURE_NODE_NOT_FOUND. */
  requestDrain(node: string, options: DrainOptions = {}): Promise<void> {
    return requestDrain(this.services.store, node, checkDrainOptions(options));
  }

  /** Safe to repeat. Transports that the host opened stay open. */
  dispose(): Promise<void> {
    this.disposing ??= this.end();
    return this.disposing;
  }

  /** With the first agent there is someone who can go on with sessions. */
  private keep(): void {
    const { config, projections } = this.services;
    if (!config.keepsSessions || projections === undefined) return;
    this.keeper ??= new SessionKeeper(this.services, projections, this.live);
    this.keeper.start();
    this.listener ??= this.listen();
  }

  private listen(): DrainListener {
    const listener = new DrainListener(this.services);
    void listener.asked.then(async (options) => {
      const { logger } = this.services;
      await this.drain(options).catch((error: unknown) => {
        logger.log('error', 'This node could not be drained as it was asked to.', { reason: reasonOf(error) });
      });
    });
    return listener;
  }

  private async end(): Promise<void> {
    await this.listener?.stop();
    await this.keeper?.stop();
    await Promise.all(Array.from(this.live.values(), (agent) => agent.dispose()));
    await this.services.lease.release();
    await this.set.stop();
  }
}
