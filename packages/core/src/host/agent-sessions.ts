import type { SessionKey } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  type EraseOptions,
  type Erasure,
  type ForkOptions,
  type ListOptions,
  type SearchOptions,
  type SearchPage,
  type Session,
  type SessionOptions,
  type SessionPage,
  type Sessions,
  type SessionTree,
} from '@perdure/plugin-api';
import { importSession } from '../exchange/import-session.js';
import { listSessions } from '../project/list-sessions.js';
import { searchSessions } from '../project/search-sessions.js';
import { archiveSession, restoreSession } from '../session/archive.js';
import type { FactBatch } from '../session/fact-batch.js';
import { followHost } from '../session/host-changes.js';
import type { LoadedSession } from '../session/loaded-session.js';
import { openStream, relabel } from '../session/open-stream.js';
import { erasedError } from '../session/refuse-erased.js';
import { checkEraseOptions, checkOptions, checkReason, checkText } from '../session/session-input.js';
import type { SessionIdentity, SessionState } from '../session/session-state.js';
import type { AgentConfig } from './agent-options.js';
import type { AgentView } from './agent-view.js';
import { eraseSession } from './erase-session.js';
import { forkSession } from './fork-session.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import { OneByOne } from './one-by-one.js';
import { assertAgent } from './session-agent.js';
import type { SessionConfig } from './session-options.js';
import { assertParent } from './session-parent.js';
import type { SessionRegistry } from './session-registry.js';
import { giveServers, refuseServers } from './session-servers.js';
import { readTree, treeOf } from './session-tree.js';

type Resolve = (options: SessionOptions, named?: { readonly sessionId: string }) => SessionConfig;

/** The sessions of an agent, in whatever process they are. */
export class AgentSessions implements Sessions {
  /** What opens or makes a session here waits for what does the same with its id. */
  private readonly opening = new OneByOne();

  constructor(
    private readonly services: HostServices,
    private readonly agent: AgentConfig,
    private readonly registry: SessionRegistry,
    private readonly starting: Promise<void>,
    private readonly resolve: Resolve,
    private readonly view: () => AgentView,
  ) {}

  async create(options: SessionOptions = {}): Promise<Session> {
    await this.starting;
    const config = this.resolve(options);
    return this.opening.after(config.key.id, async () => {
      const { handle, home } = await this.build(config);
      try {
        await home.use(async ({ work: { journal }, create }) => {
          // Before the first fact: a session whose servers cannot be used is not made.
          if (journal.head < 0) await giveServers(home, config.mcp);
          const isFirst = journal.head < 0 && (await openStream(journal, create));
          if (!isFirst) throw takenError(journal.state, config.key.id);
        });
      } catch (error) {
        await home.close('closed');
        throw error;
      }
      return handle;
    });
  }

  async get(id: string, patch: SessionOptions = {}): Promise<Session> {
    await this.starting;
    const config = this.resolve(patch, { sessionId: id });
    return this.opening.after(config.key.id, async () => {
      const isKnown = this.registry.find(config.key) !== undefined;
      const { handle, home } = this.registry.handle(config);
      const { model, title } = config;
      const wasLoaded = home.isLoaded;
      const look = async (loaded: LoadedSession) => {
        const { journal } = loaded.work;
        // What is loaded for this is as new as can be.
        if (wasLoaded) await journal.refresh();
        if (journal.head < 0) return 'PERDURE_SESSION_NOT_FOUND' as const;
        if (journal.state.isErased) return 'PERDURE_SESSION_ERASED' as const;
        assertParent(config.parent, journal.state);
        await giveServers(home, config.mcp);
        await relabel(journal, config.labels);
        if (model !== undefined && model !== journal.state.model) await handle.set({ model });
        if (title !== undefined && title !== journal.state.naming.title) await handle.set({ title });
        if (home.additions.variables.unasked.size > 0) await followHost(loaded);
        return undefined;
      };
      // A handle that somebody has already goes on: its first use makes the session.
      const leave = async (): Promise<void> => (isKnown ? undefined : home.close('closed'));
      const missing = await home.use(look).catch(async (error: unknown) => {
        await leave();
        throw error;
      });
      if (missing === undefined) return handle;
      await leave();
      throw new PerdureError(missing, { session: id });
    });
  }

  async list(options?: ListOptions): Promise<SessionPage> {
    await this.starting;
    return listSessions(this.services, this.filter(), options);
  }

  async search(query: string, options?: SearchOptions): Promise<SearchPage> {
    await this.starting;
    return searchSessions(this.services, this.filter(), query, options);
  }

  archive(id: string, reason?: string): Promise<void> {
    const why = checkReason(reason);
    return this.append(id, (batch) => archiveSession(batch, id, why));
  }

  restore(id: string): Promise<void> {
    return this.append(id, (batch) => restoreSession(batch, id));
  }

  async tree(id: string): Promise<SessionTree> {
    return treeOf(await readTree(await this.keyOf(id), this.services));
  }

  async fork(id: string, options: ForkOptions = {}): Promise<Session> {
    const { at, ...others } = checkOptions(options);
    refuseServers(others);
    const origin = await this.keyOf(id);
    const { state, head } = await this.registry.look(origin, ({ state: now, head: last }) => ({
      state: now,
      head: last,
    }));
    this.assertOwn(id, state.identity);
    const config = this.resolve(others);
    // The workspace is the one of the other session, unless another is named.
    const workspace = others.workspace === undefined ? undefined : config.workspace;
    await forkSession(origin, { at, state, head }, { ...config, workspace }, this.services);
    return this.registry.handle(config).handle;
  }

  async erase(id: string, options?: EraseOptions): Promise<Erasure> {
    const { cascade = false, reason } = checkEraseOptions(options);
    const key = await this.keyOf(id);
    const { state } = (await openJournal(this.services, key)).journal;
    this.assertOwn(id, state.identity);
    const letGo = (each: SessionKey): Promise<void> => this.registry.letGo(each);
    const erased = await eraseSession(key, { cascade, reason }, this.services, letGo);
    return { sessions: erased.map((each) => each.id) };
  }

  async remove(id: string): Promise<boolean> {
    try {
      await this.erase(id);
      return true;
    } catch (error) {
      if (isPerdureError(error, 'PERDURE_SESSION_NOT_FOUND')) return false;
      throw error;
    }
  }

  async import(snapshot: unknown, options?: SessionOptions): Promise<Session> {
    await this.starting;
    const { services, registry, view } = this;
    const hasModel = (name: string): boolean => view().parts.models.has(name);
    const resolve = (given: SessionOptions, sessionId: string): SessionConfig => this.resolve(given, { sessionId });
    return importSession({ services, agentId: this.agent.id, registry, hasModel, resolve }, snapshot, options);
  }

  /** A place for a session that nobody here has a handle of. */
  private async build(config: SessionConfig) {
    try {
      return this.registry.build(config);
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_EXISTS')) throw error;
      throw await this.registry.look(config.key, ({ state }) => takenError(state, config.key.id));
    }
  }

  private async keyOf(id: string): Promise<SessionKey> {
    await this.starting;
    return this.resolve({}, { sessionId: id }).key;
  }

  private assertOwn(session: string, identity: SessionIdentity | undefined): void {
    if (identity === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session });
    assertAgent(identity, this.agent.id);
  }

  /** Appends an input to a session that somebody has, here or elsewhere, or nobody. */
  private async append(id: string, decide: (batch: FactBatch) => void): Promise<void> {
    checkText('id', id);
    await this.starting;
    const { key } = this.resolve({}, { sessionId: id });
    const { journal } = await openJournal(this.services, key);
    if (journal.head < 0) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: id });
    assertAgent(journal.state.identity, this.agent.id);
    await journal.commit(decide, 'input');
    // Who has it in this process need not find it out by chance.
    const home = this.registry.home(key);
    if (home?.isLoaded === true) await home.use((loaded) => loaded.work.journal.refresh());
  }

  private filter() {
    const { id: agentId, tenant = null } = this.agent;
    return { agentId, tenant };
  }
}

/** Why a session cannot be made: there is one, or there was. */
function takenError(state: SessionState, session: string): PerdureError {
  return state.isErased ? erasedError(session) : new PerdureError('PERDURE_SESSION_EXISTS', { session });
}
