import { setImmediate } from 'node:timers/promises';
import { isPerdureError, type FactBatch } from '@perdure/plugin-api';
import type { Announcement } from './announcement.js';
import { backoff, waitOr } from './backoff.js';
import type { Pager } from './pagers.js';

/** More than that is not kept for one subscription that is slow: it reads it again. */
const MOST_HEARD = 256;

/**
 * One subscription: hands over pages, and what it hears when it is up to date, without a gap or a double. It waits when
 * there is no more, and goes on until it is ended. While the server cannot be reached it tries again, from where it is.
 */
export class Subscription {
  readonly pager: Pager;
  private readonly ended: Promise<undefined>;
  private resolveEnded: () => void = () => undefined;
  private wakeUp: (() => void) | undefined;
  /** Heard while a page was read or handed over, in order. */
  private heard: Announcement[] = [];
  /** Taken while the subscription waited. */
  private ready: FactBatch | undefined;
  private mustRead = true;
  private isOver = false;
  private giveUp: (() => void) | undefined;

  constructor(pager: Pager) {
    this.pager = pager;
    this.ended = new Promise((resolve) => {
      this.resolveEnded = () => resolve(undefined);
    });
  }

  /** Something was stored. */
  hear(announcement: Announcement): void {
    if (this.mustRead) return;
    if (this.wakeUp === undefined) {
      if (this.heard.length < MOST_HEARD) this.heard.push(announcement);
      else this.wake();
      return;
    }
    const batch = this.pager.take(announcement);
    if (batch === undefined) this.wake();
    else if (batch.facts.length > 0) {
      this.ready = batch;
      this.stopWaiting();
    }
  }

  /** Something may have been stored. */
  wake(): void {
    this.mustRead = true;
    this.heard = [];
    this.stopWaiting();
  }

  end(): void {
    this.isOver = true;
    this.giveUp?.();
    this.resolveEnded();
    this.stopWaiting();
  }

  async *pages(): AsyncGenerator<FactBatch, undefined> {
    let wasCaughtUp = false;
    while (!this.isOver) {
      const taken = this.ready ?? this.nextHeard();
      this.ready = undefined;
      if (taken !== undefined) {
        yield taken;
        continue;
      }
      if (!this.mustRead) {
        await this.news();
        continue;
      }
      this.mustRead = false;
      const page = await this.page();
      if (page === undefined) return undefined;
      this.mustRead ||= !page.caughtUp;
      // A page without facts tells how far a follower of the store has come, and the first time that it is up to date.
      if (page.facts.length > 0 || !wasCaughtUp) yield page;
      wasCaughtUp ||= page.caughtUp;
      // A long past must not keep the process from everything else.
      if (!page.caughtUp) await setImmediate();
    }
    return undefined;
  }

  /** The next that was heard and asked for; a gap before it is read. */
  private nextHeard(): FactBatch | undefined {
    for (const [index, announcement] of this.heard.entries()) {
      if (this.mustRead) break;
      const batch = this.pager.take(announcement);
      if (batch === undefined) this.mustRead = true;
      else if (batch.facts.length > 0) {
        this.heard = this.heard.slice(index + 1);
        return batch;
      }
    }
    this.heard = [];
    return undefined;
  }

  /** The next page, however long the server is away; `undefined` when the subscription was ended meanwhile. */
  private async page(): Promise<FactBatch | undefined> {
    for (let failures = 1; !this.isOver; failures++) {
      try {
        return await this.unlessEnded(this.pager.nextPage());
      } catch (error) {
        if (!isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE')) throw error;
        await waitOr(backoff(failures), this.ended);
      }
    }
    return undefined;
  }

  /** A race with a promise that lasts as long as the subscription would keep every page in memory until its end. */
  private async unlessEnded(reading: Promise<FactBatch>): Promise<FactBatch | undefined> {
    try {
      return await new Promise<FactBatch | undefined>((resolve, reject) => {
        this.giveUp = () => resolve(undefined);
        reading.then(resolve, reject);
      });
    } finally {
      this.giveUp = undefined;
    }
  }

  private async news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
    });
  }

  private stopWaiting(): void {
    this.wakeUp?.();
    this.wakeUp = undefined;
  }
}
