import { PerdureError } from '@perdure/plugin-api';
import type { SessionWork } from '../turn/session-work.js';
import type { Ownership } from './ownership.js';
import { settledWithin } from './settled-within.js';

/** Milliseconds in which a call that was broken off must come to its end. */
const BREAK_OFF_MS = 5_000;

/** What a host has done in a session that this node owns, until the signal aborts. */
export type HostWork<Result> = (work: SessionWork, held: Ownership, signal: AbortSignal) => Promise<Result>;

/** The calls that the host makes itself in a loaded session, beside its turn. */
export class HostCalls {
  private readonly calls = new Set<Promise<unknown>>();
  private readonly ending = new AbortController();

  constructor(private readonly work: SessionWork) {}

  /** Makes a call. Throws PERDURE_SESSION_CLOSED when they were ended. */
  make<Result>(work: HostWork<Result>, held: Ownership | undefined): Promise<Result> {
    const { signal } = this.ending;
    if (held === undefined || signal.aborted) return Promise.reject(this.closed());
    const call = work(this.work, held, signal);
    this.calls.add(call);
    return call.finally(() => this.calls.delete(call));
  }

  /**
   * Ends them: what has not ended within the grace, as a call that waits for a person, is broken off. Resolves when all
   * are settled. One that does not come to its end then is left behind.
   */
  async end(graceMs: number): Promise<void> {
    await settledWithin(this.calls, graceMs);
    this.breakOff();
    await settledWithin(this.calls, BREAK_OFF_MS);
  }

  /** Breaks off what is under way, and waits for nothing. */
  breakOff(): void {
    this.ending.abort(this.closed());
  }

  private closed(): PerdureError {
    return new PerdureError('PERDURE_SESSION_CLOSED', { session: this.work.key.id });
  }
}
