import { setImmediate } from 'node:timers/promises';
import type { FactBatch } from '@perdure/plugin-api';
import type { Announcement } from './announcement.js';

/** Reads page by page behind a cursor of its own. */
export interface Pager {
  /** The stream that is followed; `undefined` for the whole store. */
  readonly stream: string | undefined;
  nextPage(): FactBatch;
  /**
   * Whether the next page would hold something of a batch that was stored. If not, and nothing else lies between, the
   * cursor moves past it, so that facts which nobody asked for are never read. Must cost next to nothing.
   */
  concerns(announcement: Announcement): boolean;
}

/** One subscription: hands over pages, waits when there is no more, and goes on until it is ended. */
export class Subscription {
  readonly pager: Pager;
  private wakeUp: (() => void) | undefined;
  private hasNews = false;
  private isOver = false;

  constructor(pager: Pager) {
    this.pager = pager;
  }

  /** Something was stored. */
  hear(announcement: Announcement): void {
    if (!this.hasNews && this.pager.concerns(announcement)) this.wake();
  }

  /** Something may have been stored. */
  wake(): void {
    this.hasNews = true;
    this.wakeUp?.();
  }

  end(): void {
    this.isOver = true;
    this.wakeUp?.();
  }

  async *pages(): AsyncGenerator<FactBatch, undefined> {
    let wasCaughtUp = false;
    while (!this.isOver) {
      this.hasNews = false;
      const page = this.pager.nextPage();
      // A page without facts tells how far a follower of the store has come, and the first time that it is up to date.
      if (page.facts.length > 0 || !wasCaughtUp) yield page;
      wasCaughtUp ||= page.caughtUp;
      // A long past must not keep the process from everything else.
      if (page.caughtUp) await this.news();
      else await setImmediate();
    }
    return undefined;
  }

  private async news(): Promise<void> {
    if (this.hasNews || this.isOver) return;
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
    });
  }
}
