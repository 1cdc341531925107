import { keyText, type SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { Journal } from '../session/journal.js';
import type { Leaving } from '../session/leave-node.js';
import { DurableSession } from '../session/session.js';
import type { SessionConfig } from './session-options.js';
import { childHomes } from './child-homes.js';
import type { HomeGround } from './home-ground.js';
import { RegisteredHome } from './registered-home.js';

interface Place {
  readonly handle: DurableSession;
  readonly home: RegisteredHome;
}

/** The sessions of an agent in this process: one handle and one load for an id, however many ask at once. */
export class SessionRegistry {
  private readonly handles = new Map<string, Place>();
  private readonly ground: HomeGround;
  private isClosed = false;

  constructor(ground: Omit<HomeGround, 'children' | 'find'>) {
    const find = (key: SessionKey): RegisteredHome | undefined => this.home(key);
    const children = childHomes((config) => this.place(config).home, find);
    this.ground = { ...ground, children, find };
  }

  /** The places of the sessions that are in memory, or on their way there. */
  get loaded(): readonly RegisteredHome[] {
    return Array.from(this.handles.values(), ({ home }) => home).filter((home) => home.isLoaded);
  }

  /** Sessions whose turns are under way in this process. */
  get atWork(): number {
    let count = 0;
    for (const { home } of this.handles.values()) if (home.isAtWork) count += 1;
    return count;
  }

  /** Has all sessions that this process has leave it; see `Runtime.drain`. */
  async vacate(reason: string, deadlineMs: number): Promise<readonly Leaving[]> {
    const outcomes = await Promise.all(this.loaded.map((home) => home.vacate(reason, deadlineMs)));
    return outcomes.filter((outcome) => outcome !== undefined);
  }

  /** The handle of a session; the same one for the same id until it is closed. */
  handle(config: SessionConfig): Place {
    const place = this.place(config);
    place.home.ask();
    place.home.retain(config.retention);
    place.home.additions.variables.offer(config.env);
    return place;
  }

  /** The handle of a session that nobody here has one of. Throws PERDURE_SESSION_EXISTS. */
  build(config: SessionConfig): Place {
    if (this.home(config.key)?.isAsked === true) {
      throw new PerdureError('PERDURE_SESSION_EXISTS', { session: config.key.id });
    }
    return this.handle(config);
  }

  /** Goes on with a session that nobody here need have asked for. */
  keep(key: SessionKey): Promise<void> {
    return this.place(unasked(key)).home.keep();
  }

  /** Looks at a session that nobody here need have asked for, as it is now. It may stay loaded for a while. */
  look<Result>(key: SessionKey, work: (journal: Journal) => Result): Promise<Result> {
    return this.place(unasked(key)).home.recall(async ({ work: { journal } }) => {
      await journal.refresh();
      return work(journal);
    });
  }

  find(key: SessionKey): DurableSession | undefined {
    return this.handles.get(keyText(key))?.handle;
  }

  home(key: SessionKey): RegisteredHome | undefined {
    return this.handles.get(keyText(key))?.home;
  }

  /** Lets a session go that is being erased, if it is here. */
  async letGo(key: SessionKey): Promise<void> {
    await this.home(key)?.close('closed', true);
  }

  /** Lets all sessions go, together. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this.handles.values(), ({ home }) => home.close('closed')));
  }

  private place(config: SessionConfig): Place {
    if (this.isClosed) throw new PerdureError('PERDURE_SESSION_CLOSED', { session: config.key.id });
    const key = keyText(config.key);
    const existing = this.handles.get(key);
    if (existing !== undefined) return existing;
    const home: RegisteredHome = new RegisteredHome(this.ground, config, () => {
      if (this.handles.get(key)?.home === home) this.handles.delete(key);
    });
    const made = { handle: new DurableSession(home), home };
    this.handles.set(key, made);
    return made;
  }
}

function unasked(key: SessionKey): SessionConfig {
  const nothing = { model: undefined, workspace: undefined, parent: undefined, title: undefined, timezone: undefined };
  return { key, labels: {}, agent: undefined, retention: {}, env: {}, ...nothing };
}
