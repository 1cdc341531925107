import type { SessionKey } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  type EraseOptions,
  type Erasure,
  type ForkOptions,
  type Session,
  type SessionOptions,
  type Sessions,
  type SessionTree,
} from '@perdure/plugin-api';
import { checkEraseOptions, checkOptions } from '../session/session-input.js';
import type { SessionIdentity } from '../session/session-state.js';
import { sessionConfiguration, type SessionConfig } from './agent-options.js';
import { eraseSession } from './erase-session.js';
import { forkSession } from './fork-session.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import type { SessionRegistry } from './session-registry.js';
import { readTree, treeOf } from './session-tree.js';

/** What comes out of an agent's sessions, and their end. */
export class SessionLineage implements Pick<Sessions, 'fork' | 'tree' | 'erase' | 'remove'> {
  constructor(
    private readonly agentId: string,
    private readonly registry: SessionRegistry,
    private readonly services: HostServices,
    /** Options whole and checked, when the agent is there. */
    private readonly resolve: (
      options: SessionOptions,
      named?: Pick<SessionOptions, 'sessionId'>,
    ) => Promise<SessionConfig>,
  ) {}

  async fork(id: string, options: ForkOptions = {}): Promise<Session> {
    const { at, ...others } = checkOptions(options);
    const origin = await this.keyOf(id);
    const state = await this.registry.look(origin, (journal) => journal.state);
    this.assertOwn(id, state.identity);
    const config = await this.resolve(others);
    // The workspace is the one of the other session, unless another is named.
    const workspace = others.workspace === undefined ? undefined : config.workspace;
    await forkSession(origin, { at, state }, { ...config, workspace }, this.services);
    return this.registry.handle(config).handle;
  }

  async tree(id: string): Promise<SessionTree> {
    return treeOf(await readTree(await this.keyOf(id), this.services));
  }

  async erase(id: string, options?: EraseOptions): Promise<Erasure> {
    const { cascade = false, reason } = checkEraseOptions(options);
    const key = await this.keyOf(id);
    const { state } = (await openJournal(this.services, key)).journal;
    this.assertOwn(id, state.identity);
    const letGo = async (each: SessionKey): Promise<void> => this.registry.home(each)?.close('closed');
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

  private async keyOf(id: string): Promise<SessionKey> {
    return (await this.resolve({}, { sessionId: id })).key;
  }

  private assertOwn(session: string, identity: SessionIdentity | undefined): void {
    if (identity === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session });
    if (identity.agentId === this.agentId) return;
    throw sessionConfiguration('agentId', `the session belongs to the agent "${identity.agentId}"`);
  }
}
