import type { Labels } from '@perdure/events';
import type { LoadedSession } from '../session/loaded-session.js';
import type { KnownState, SessionState } from '../session/session-state.js';
import { isRunnable } from '../session/waiting.js';
import type { SessionConfig } from './session-options.js';

/** What this process knows of a session: its fold while it is loaded, and what that was when it left memory. */
export class KnownSession {
  loaded: LoadedSession | undefined;
  private last: KnownState | undefined;
  /** It left memory because it rested, and goes on. */
  rests = false;

  constructor(private readonly config: SessionConfig) {}

  get state(): KnownState | undefined {
    return this.fold ?? this.last;
  }

  /** The fold; absent while it is not loaded. */
  get fold(): SessionState | undefined {
    return this.loaded?.work.journal.state;
  }

  get labels(): Labels {
    const { state } = this;
    return state?.identity === undefined ? this.config.labels : state.labels;
  }

  get workspace(): string | undefined {
    return this.state?.identity?.workspace ?? this.config.workspace;
  }

  /** Whether this node has it and, at a time in epoch milliseconds, something of it to do, begun or not. */
  isAtWork(now: number): boolean {
    const { loaded } = this;
    return loaded?.isOwner === true && isRunnable(loaded.work.journal.state, now);
  }

  enter(loaded: LoadedSession): void {
    this.loaded = loaded;
    this.rests = false;
  }

  leave({ work }: LoadedSession): void {
    const { identity, labels, plugins } = work.journal.state;
    this.last = { identity, labels, plugins };
    this.loaded = undefined;
  }
}
