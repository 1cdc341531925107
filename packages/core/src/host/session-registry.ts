import { keyText, type Labels, type SessionKey } from '@perdure/events';
import { PerdureError, reasonOf, type SessionRetentionLimits } from '@perdure/plugin-api';
import type { LoadedSession } from '../session/loaded-session.js';
import { DurableSession } from '../session/session.js';
import type { SessionHome } from '../session/session-home.js';
import type { SessionConfig } from './agent-options.js';
import type { AgentView } from './agent-view.js';
import type { HostServices } from './host-services.js';
import { openSession } from './load-session.js';
import { warnOfIdleLimits } from './retention.js';
import { SessionAdditions } from './session-additions.js';

/** The sessions of an agent in this process: one handle and one load for an id, however many ask at once. */
export class SessionRegistry {
  private readonly handles = new Map<string, { readonly handle: DurableSession; readonly home: RegisteredHome }>();
  private isClosed = false;

  constructor(
    private readonly services: HostServices,
    private readonly agentId: string,
    private readonly retention: SessionRetentionLimits,
    private readonly view: () => AgentView,
  ) {}

  /** The handle of a session; the same one for the same id until it is closed. */
  handle(config: SessionConfig): { readonly handle: DurableSession; readonly home: SessionHome } {
    if (this.isClosed) throw new PerdureError('PERDURE_SESSION_CLOSED', { session: config.key.id });
    const key = keyText(config.key);
    const existing = this.handles.get(key);
    if (existing !== undefined) {
      existing.home.retain(config.retention);
      return existing;
    }
    const onClosed = (): boolean => this.handles.delete(key);
    const home = new RegisteredHome(this.services, this.agentId, config, this.retention, this.view, onClosed);
    home.retain(config.retention);
    const made = { handle: new DurableSession(home), home };
    this.handles.set(key, made);
    return made;
  }

  find(key: SessionKey): DurableSession | undefined {
    return this.handles.get(keyText(key))?.handle;
  }

  /** Lets all sessions go, together. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this.handles.values(), ({ home }) => home.close('closed')));
  }
}

class RegisteredHome implements SessionHome {
  readonly additions = new SessionAdditions();
  private loading: Promise<LoadedSession> | undefined;
  private loaded: LoadedSession | undefined;
  private closing: Promise<void> | undefined;
  /** The session leaving this node; it may be opened here again behind that. */
  private unloading: Promise<void> = Promise.resolve();

  constructor(
    private readonly services: HostServices,
    readonly agentId: string,
    private readonly config: SessionConfig,
    private limits: SessionRetentionLimits,
    private readonly view: () => AgentView,
    private readonly onClosed: () => void,
  ) {}

  get key(): SessionKey {
    return this.config.key;
  }
  get logger(): HostServices['logger'] {
    return this.services.logger;
  }
  get snapshots(): HostServices['snapshots'] {
    return this.services.snapshots;
  }

  get prices(): SessionHome['prices'] {
    return this.services.config.prices;
  }
  get runIds(): HostServices['runIds'] {
    return this.services.runIds;
  }

  agent(): AgentView {
    return this.additions.view(this.view());
  }

  retention(): SessionRetentionLimits {
    return this.limits;
  }

  /** Sets the limits that are named; others stay. */
  retain(limits: SessionRetentionLimits): void {
    warnOfIdleLimits(limits, this.key.id, this.logger);
    this.limits = { ...this.limits, ...limits };
  }

  labels(): Labels {
    const state = this.loaded?.work.journal.state;
    return state?.identity === undefined ? this.config.labels : state.labels;
  }

  load(): Promise<LoadedSession> {
    if (this.closing !== undefined)
      return Promise.reject(new PerdureError('PERDURE_SESSION_CLOSED', { session: this.key.id }));
    this.loading ??= this.unloading
      .then(() => this.open())
      .catch((error: unknown) => {
        this.loading = undefined;
        throw error;
      });
    return this.loading;
  }

  /** Safe to repeat; resolves when nothing of the session is left in this process. */
  close(reason: 'closed' | 'passivated'): Promise<void> {
    this.closing ??= this.letGo(reason).finally(() => this.onClosed());
    return this.closing;
  }

  private async open(): Promise<LoadedSession> {
    await this.services.opening.enter();
    this.loaded = await openSession(this.services, this.agentId, this.config, () => this.agent());
    const { loaded } = this;
    void loaded.passivation.due.then(() => this.unload(loaded));
    return loaded;
  }

  /** The session leaves this node, and the handle stays: its next use opens the session again. */
  private unload(loaded: LoadedSession): void {
    if (this.loaded !== loaded || this.closing !== undefined) return;
    this.loaded = undefined;
    this.loading = undefined;
    this.unloading = loaded.close(0, 'passivated').catch((error: unknown) => {
      const reason = reasonOf(error);
      this.logger.log('warn', 'A session could not be let go.', { session: this.key.id, reason });
    });
  }

  private async letGo(reason: 'closed' | 'passivated'): Promise<void> {
    await this.unloading;
    const loaded = await this.loading?.catch(() => undefined);
    await loaded?.close(this.services.config.closeGraceMs, reason);
  }
}
