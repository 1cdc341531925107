import type { HostEnv } from '@perdure/plugin-api';
import { expireDue, nextExpiry } from './interactions.js';
import type { Journal } from './journal.js';

/**
 * Milliseconds between two looks at a time of the world, at the most: the clock of the machine may be set meanwhile,
 * and what it says is what counts.
 */
export const CLOCK_LOOK_MS = 30_000;

/** Answers what people are asked in a session when nobody has until their time. Any process may be the first. */
export class InteractionExpiry {
  private timer: NodeJS.Timeout | undefined;
  private at: number | undefined;

  constructor(
    private readonly work: { readonly journal: Journal; readonly env: HostEnv },
    signal: AbortSignal,
  ) {
    const end = work.journal.onCommit(() => this.look());
    signal.addEventListener('abort', () => {
      end();
      clearTimeout(this.timer);
    });
  }

  /** Looks when the next request expires. */
  look(): void {
    const at = nextExpiry(this.work.journal.state);
    if (at === this.at) return;
    this.at = at;
    clearTimeout(this.timer);
    if (at === undefined) return;
    const wait = Math.min(Math.max(0, at - this.work.env.clock.now()), CLOCK_LOOK_MS);
    this.timer = setTimeout(() => void this.expire(), wait).unref();
  }

  private async expire(): Promise<void> {
    this.at = undefined;
    const { journal, env } = this.work;
    try {
      await journal.commit((batch) => expireDue(batch, env.clock.now()), 'input');
    } catch {
      // The journal has failed, and whoever uses the session is told by it.
    }
    this.look();
  }
}
