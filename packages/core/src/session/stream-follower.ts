import { setTimeout as delay } from 'node:timers/promises';
import { isPerdureError, reasonOf } from '@perdure/plugin-api';
import { followDraft } from '../live/draft-reader.js';
import type { SessionWork } from '../turn/session-work.js';
import { inputTypes } from './read-committed.js';

/** Milliseconds before a session is followed again, when that broke off. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

const ofOthers: ReadonlySet<string> = new Set(inputTypes);

/** Whether facts of a type may give an owner something to do that it did not decide itself. */
export function isInputType(type: string): boolean {
  return ofOthers.has(type);
}

/** Follows what other processes append to a session: its facts, and while it is another's also its growing answer. */
export class StreamFollower {
  private following: AbortController | undefined;
  private isOver = false;

  constructor(
    private readonly work: SessionWork,
    private readonly isOwned: () => boolean,
  ) {}

  /** Begins to follow. Safe to repeat. */
  follow(): void {
    if (this.isOver || this.following !== undefined) return;
    const controller = new AbortController();
    this.following = controller;
    const { store, key, feed, logger } = this.work;
    const report = (error: unknown): void => {
      if (!controller.signal.aborted)
        logger.log('warn', 'A session is no longer followed.', { reason: reasonOf(error) });
    };
    this.followFacts(controller.signal).catch(report);
    if (!this.isOwned()) followDraft(store, key, feed, controller.signal).catch(report);
  }

  /** The session has another owner: other facts are news. */
  again(): void {
    this.following?.abort();
    this.following = undefined;
    this.follow();
  }

  end(): void {
    this.isOver = true;
    this.following?.abort();
  }

  /** A follower outlasts a store that is away. */
  private async followFacts(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await this.followOn(signal);
      } catch (error) {
        if (signal.aborted || !isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE')) throw error;
        const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
        await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  private async followOn(signal: AbortSignal): Promise<void> {
    const { store, journal } = this.work;
    const source = { stream: journal.stream, ...(journal.head < 0 ? {} : { after: journal.head }) };
    const types = this.isOwned() ? { types: inputTypes } : {};
    for await (const { facts } of store.subscribe(source, { ...types, signal })) {
      const last = facts.at(-1);
      if (last === undefined || last.revision <= journal.head) continue;
      await journal.refresh();
    }
  }
}
