import { sessionStream, type RecordedFact, type SessionKey } from '@perdure/events';
import {
  PerdureError,
  type Agent,
  type PluginLike,
  type Session,
  type SessionOptions,
  type Sessions,
} from '@perdure/plugin-api';
import { profileOfFirst, viewOfSession } from '../children/narrow-view.js';
import { replaySession, type ReplayReport } from '../replay/replay.js';
import { readChain } from '../session/chain-reader.js';
import type { Leaving } from '../session/leave-node.js';
import { beginningOf } from '../session/session-loader.js';
import { checkText, invalidInput, isObject } from '../session/session-input.js';
import { AgentChanges } from './agent-changes.js';
import { AgentPlugins, type PluginGeneration } from './agent-plugins.js';
import { AgentSessions } from './agent-sessions.js';
import { AgentView, type Governance } from './agent-view.js';
import { instructionOf, type AgentConfig } from './agent-options.js';
import { compileAgent } from './compile-agent.js';
import { eraseSession, type EraseRequest } from './erase-session.js';
import type { HostServices } from './host-services.js';
import { openBefore } from './load-session.js';
import type { RegisteredHome } from './registered-home.js';
import { warnOfIdleLimits } from './retention.js';
import { resolveSessionOptions, sessionConfiguration, type SessionConfig } from './session-options.js';
import { SessionRegistry } from './session-registry.js';
import { withSessionTools } from './session-tools.js';

/** An agent of a runtime: a container of its own, its sessions, and the view of itself that steps freeze. */
export class RuntimeAgent implements Agent {
  readonly sessions: Sessions;
  private readonly registry: SessionRegistry;
  private readonly plugins: AgentPlugins;
  private readonly changes: AgentChanges;
  private readonly starting: Promise<void>;
  private views = new WeakMap<PluginGeneration, AgentView>();
  private instruction: readonly string[];
  private disposing: Promise<void> | undefined;
  private isReady = false;

  constructor(
    private readonly config: AgentConfig,
    private readonly services: HostServices,
    private readonly onDisposed: () => void,
  ) {
    this.instruction = config.instruction;
    this.plugins = new AgentPlugins(services);
    this.changes = new AgentChanges(config.env, config.id, services);
    this.registry = new SessionRegistry({
      services,
      agentId: config.id,
      retention: config.retention,
      view: (plugins) => this.viewOf(this.plugins.of(plugins)),
      env: (workspace) => this.changes.env(workspace),
    });
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
    const config = this.resolve(options, { workspace });
    // Servers must be asked for their tools, whatever else is there already.
    if (config.mcp !== undefined) throw new PerdureError('PERDURE_ASYNC_BUILD_REQUIRED', { resource: 'mcp' });
    return this.registry.build(config).handle;
  }

  async addPlugin(plugin: PluginLike): Promise<void> {
    if (typeof plugin !== 'string' && !isObject(plugin)) throw invalidInput('plugin', 'it is a plugin or its name');
    await this.starting;
    await this.plugins.add([plugin]);
    await this.changes.tell(this.registry);
    await this.plugins.retire();
  }

  async removePlugin(name: string): Promise<boolean> {
    checkText('name', name);
    await this.starting;
    if (!(await this.plugins.remove(name))) return false;
    await this.changes.tell(this.registry);
    await this.plugins.retire();
    return true;
  }

  setInstruction(instruction: string | readonly string[]): void {
    this.instruction = checkInstruction(instruction);
    this.views = new WeakMap();
  }

  async setEnv(env: Readonly<Record<string, string>>): Promise<void> {
    this.changes.setEnv(env);
    await this.starting;
    await this.changes.tell(this.registry);
  }

  async patchEnv(patch: Readonly<Record<string, string | null>>): Promise<void> {
    this.changes.patchEnv(patch);
    await this.starting;
    await this.changes.tell(this.registry);
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

  /** Goes on with the erasure of a session. Throws what hinders it. */
  async finishErasure(key: SessionKey, request: EraseRequest): Promise<void> {
    await this.starting;
    if (key.tenant !== this.config.tenant) return;
    await eraseSession(key, request, this.services, (each) => this.registry.letGo(each));
  }

  /** Sessions that this process has and has something to do for. */
  get sessionsAtWork(): number {
    return this.registry.atWork;
  }

  /** Has the sessions that this process has leave it: what each was doing. */
  async vacate(reason: string, deadlineMs: number): Promise<readonly Leaving[]> {
    await this.starting;
    return this.registry.vacate(reason, deadlineMs);
  }

  dispose(): Promise<void> {
    this.disposing ??= this.end();
    return this.disposing;
  }

  private async start(): Promise<void> {
    await this.plugins.add(this.config.plugins);
    const { titles } = this.current().parts;
    // A model that is not there is found out before it would be missed in the background.
    if (titles?.model !== undefined) this.current().model(titles.model);
    this.isReady = true;
  }

  /** The agent as it is now. A step that began with an earlier view keeps it. */
  private current(): AgentView {
    return this.viewOf(this.plugins.current);
  }

  private viewOf(generation: PluginGeneration): AgentView {
    let view = this.views.get(generation);
    if (view === undefined) {
      view = compileAgent({ ...this.config, instruction: this.instruction }, this.services, generation);
      this.views.set(generation, view);
    }
    return view;
  }

  /** Options as they were given, and what is said beside them. */
  private resolve(options: SessionOptions, named: Parameters<typeof resolveSessionOptions>[1] = {}): SessionConfig {
    const { env, workspaces, redaction } = this.services;
    const newId = (): string => env.idGenerator.next('session');
    const config = resolveSessionOptions(options, named, this.config, newId, workspaces);
    this.services.secrets.checkVariables(config.env);
    // The id names the stream, and names are kept as they are.
    if (redaction.redactText(config.key.id) === config.key.id) return config;
    throw sessionConfiguration('sessionId', 'it holds a credential');
  }

  private async end(): Promise<void> {
    await this.starting.catch(() => undefined);
    await this.registry.close();
    await this.plugins.stop();
    this.onDisposed();
  }
}

function checkInstruction(instruction: unknown): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(instruction) ? instruction : [instruction];
  const isText = (text: unknown): text is string => typeof text === 'string';
  if (!texts.every(isText)) throw invalidInput('instruction', 'it is a text or a list of texts');
  return instructionOf(texts);
}
