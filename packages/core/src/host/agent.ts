import { sessionStream, type RecordedFact, type SessionKey } from '@perdure/events';
import {
  AGENT_DEFINITIONS,
  APPROVAL,
  BUDGET_GUARDS,
  COMMANDS,
  GATES,
  HOOKS,
  ASKER,
  MCP_SERVERS,
  MODELS,
  PerdureError,
  PERMISSION,
  SESSION_TOOLS,
  SYSTEM_BLOCKS,
  TOOLS,
  type Agent,
  type AgentOptions,
  type LanguageModel,
  type PluginLike,
  type Session,
  type SessionOptions,
  type Sessions,
  type Token,
} from '@perdure/plugin-api';
import { profileOfFirst, viewOfSession } from '../children/narrow-view.js';
import { checkModel } from '../invoke/language-model.js';
import { replaySession, type ReplayReport } from '../replay/replay.js';
import { readChain } from '../session/chain-reader.js';
import { beginningOf } from '../session/session-loader.js';
import { checkText, invalidInput, isObject } from '../session/session-input.js';
import { AgentSessions } from './agent-sessions.js';
import { AgentView, type Governance } from './agent-view.js';
import { resolveSessionOptions, sessionConfiguration, type AgentConfig, type SessionConfig } from './agent-options.js';
import type { HostServices } from './host-services.js';
import { loadPlugins } from './load-plugins.js';
import { openBefore } from './load-session.js';
import { orderPlugins } from './order-plugins.js';
import { PluginSet } from './plugin-set.js';
import type { RegisteredHome } from './registered-home.js';
import { warnOfIdleLimits } from './retention.js';
import { SessionRegistry } from './session-registry.js';
import { withSessionTools } from './session-tools.js';

/** An agent of a runtime: a container of its own, its sessions, and the view of itself that steps freeze. */
export class RuntimeAgent implements Agent {
  readonly sessions: Sessions;
  private readonly registry: SessionRegistry;
  private readonly sets = new Map<string, PluginSet>();
  private readonly starting: Promise<void>;
  private view: AgentView | undefined;
  private disposing: Promise<void> | undefined;
  private isReady = false;

  constructor(
    private readonly options: AgentOptions,
    private readonly config: AgentConfig,
    private readonly services: HostServices,
    private readonly onDisposed: () => void,
  ) {
    this.registry = new SessionRegistry(services, config.id, config.retention, () => this.current());
    warnOfIdleLimits(config.retention, config.id, services.logger);
    this.starting = this.start();
    this.sessions = new AgentSessions(
      services,
      config,
      this.registry,
      this.starting,
      (given, named) => this.resolve(given, named),
      () => this.current(),
    );
    this.starting.catch(() => undefined);
  }

  get id(): string {
    return this.config.id;
  }

  ready(): Promise<void> {
    return this.starting;
  }

  session(workspace: string, options: SessionOptions = {}): Session {
    if (!this.isReady) throw new PerdureError('PERDURE_ASYNC_BUILD_REQUIRED', { resource: 'plugins' });
    return this.registry.build(this.resolve(options, { workspace })).handle;
  }

  async addPlugin(plugin: PluginLike): Promise<void> {
    if (typeof plugin !== 'string' && !isObject(plugin)) throw invalidInput('plugin', 'it is a plugin or its name');
    await this.starting;
    await this.add([plugin]);
  }

  async removePlugin(name: string): Promise<boolean> {
    const set = this.sets.get(checkText('name', name));
    if (set === undefined) return false;
    this.sets.delete(name);
    this.view = undefined;
    await set.stop();
    return true;
  }

  /**
   * Runs a session's recorded decisions again with this agent as it is now. `governance` is what governed it at other
   * times: what was decided under one of these is compared with that one.
   */
  async replay(sessionId: string, governance: readonly Governance[] = []): Promise<ReplayReport> {
    await this.starting;
    const { store, facts, env, redaction } = this.services;
    const { key } = this.resolve({}, { sessionId });
    const recorded: RecordedFact[] = [];
    for await (const page of readChain(store, sessionStream(key), { from: 0 })) recorded.push(...page);
    if (recorded.length === 0) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: sessionId });
    const first = facts.read(recorded[0] as RecordedFact);
    const { parent = null } = first.payload as { readonly parent?: string };
    const unopened = { agentId: this.id, sessionId, tenant: key.tenant ?? null, parent, workspace: undefined };
    const { parts } = this.current();
    const scope = this.home(key)?.scope() ?? unopened;
    const beginning = await beginningOf(recorded[0], store, facts, openBefore(this.services));
    const profile = profileOfFirst(first) ?? beginning.state.identity?.profile;
    const viewOf = (other: Governance): AgentView =>
      viewOfSession(withSessionTools(new AgentView({ ...parts, ...other }), scope), profile);
    return replaySession(recorded, facts, [viewOf({}), ...governance.map(viewOf)], env, redaction, beginning);
  }

  /** Where a session of this agent is in this process, if anyone asked for it. */
  home(key: SessionKey): RegisteredHome | undefined {
    return this.registry.home(key);
  }

  /** Goes on with a session that has work and no owner. Resolves when its work has begun; throws what hinders it. */
  async keep(key: SessionKey): Promise<void> {
    await this.starting;
    if (key.tenant === this.config.tenant) await this.registry.keep(key);
  }

  dispose(): Promise<void> {
    this.disposing ??= this.end();
    return this.disposing;
  }

  private async start(): Promise<void> {
    await this.add(this.options.plugins ?? []);
    const { titles } = this.current().parts;
    // A model that is not there is found out before it would be missed in the background.
    if (titles?.model !== undefined) this.current().model(titles.model);
    this.isReady = true;
  }

  /** Each plugin has a container of its own below the runtime's, so that it can be taken out again alone. */
  private async add(plugins: readonly PluginLike[]): Promise<void> {
    const { container, logger, config } = this.services;
    const loaded = await loadPlugins(plugins, config.pluginRoot);
    for (const { plugin } of loaded) {
      const token = plugin.provides.find(({ scope }) => scope === 'runtime');
      if (token !== undefined) {
        const reason = `"${token.name}" belongs to the runtime, not to one agent`;
        throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: plugin.name, field: 'provides', reason });
      }
    }
    const available = loaded.flatMap(({ plugin }) => plugin.needs.filter((need) => container.find(need) !== undefined));
    for (const each of orderPlugins(loaded, available)) {
      const set = new PluginSet(container.child(), logger, config);
      await set.start([each]);
      await this.sets.get(each.plugin.name)?.stop();
      this.sets.set(each.plugin.name, set);
    }
    this.view = undefined;
  }

  /** The agent as it is now. A step that began with an earlier view keeps it. */
  private current(): AgentView {
    this.view ??= this.compile();
    return this.view;
  }

  private compile(): AgentView {
    const { container } = this.services;
    const provided = Array.from(this.sets.values(), (set) => set.contributions).flat();
    const own = <Port>({ key }: Token<Port>): readonly Port[] =>
      provided.filter(({ token }) => token.key === key).map(({ value }) => value as Port);
    const many = <Port>(token: Token<Port, 'many'>): readonly Port[] => [
      ...(container.get(token) as readonly Port[]),
      ...own(token),
    ];
    const models = new Map<string, LanguageModel>(this.config.models);
    for (const source of many(MODELS)) {
      for (const [name, model] of Object.entries(source.models))
        if (!models.has(name)) models.set(name, checkModel(name, model));
    }
    return new AgentView({
      agentId: this.id,
      instruction: this.config.instruction,
      models,
      defaultModel: this.config.defaultModel ?? (models.size === 1 ? [...models.keys()][0] : undefined),
      tools: this.options.tools ?? {},
      toolSources: many(TOOLS),
      sessionTools: many(SESSION_TOOLS),
      mcpServers: own(MCP_SERVERS)[0] ?? container.find(MCP_SERVERS),
      systemBlocks: many(SYSTEM_BLOCKS),
      gates: many(GATES),
      hooks: many(HOOKS),
      commandSources: many(COMMANDS),
      definitionSources: many(AGENT_DEFINITIONS),
      permission: container.find(PERMISSION),
      asker: container.find(ASKER),
      approval: container.find(APPROVAL),
      budgetGuard: this.options.budgetGuard,
      pluginGuards: many(BUDGET_GUARDS),
      streaming: this.config.streaming,
      readOnly: this.config.readOnly,
      marksExternal: this.config.marksExternal,
      lanes: this.config.lanes,
      context: this.config.context,
      titles: this.config.titles,
      limits: this.config.limits,
      files: this.config.files,
    });
  }

  /** Options as they were given, and what is said beside them. */
  private resolve(options: SessionOptions, named: Parameters<typeof resolveSessionOptions>[1] = {}): SessionConfig {
    const { env, workspaces, redaction } = this.services;
    const newId = (): string => env.idGenerator.next('session');
    const config = resolveSessionOptions(options, named, this.config, newId, workspaces);
    // The id names the stream, and names are kept as they are.
    if (redaction.redactText(config.key.id) === config.key.id) return config;
    throw sessionConfiguration('sessionId', 'it holds a credential');
  }

  private async end(): Promise<void> {
    await this.starting.catch(() => undefined);
    await this.registry.close();
    for (const set of [...this.sets.values()].reverse()) await set.stop();
    this.onDisposed();
  }
}
