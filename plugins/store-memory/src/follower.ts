import { setImmediate } from 'node:timers/promises';
import type { FactBatch } from '@perdure/plugin-api';

/** One subscription: hands over pages, waits when there is no more, and goes on until it is ended. */
export class Follower {
  private wakeUp: (() => void) | undefined;
  private hasNews = false;
  private isOver = false;

  /** Something was appended. */
  wake(): void {
    this.hasNews = true;
    this.wakeUp?.();
  }

  end(): void {
    this.isOver = true;
    this.wakeUp?.();
  }

  async *pages(nextPage: () => FactBatch): AsyncGenerator<FactBatch, undefined> {
    let wasCaughtUp = false;
    while (!this.isOver) {
      this.hasNews = false;
      const page = nextPage();
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
