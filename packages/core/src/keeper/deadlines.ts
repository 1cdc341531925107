import type { SessionKey } from '@perdure/events';
import { openJournal } from '../host/load-session.js';
import { CLOCK_LOOK_MS } from '../session/interaction-expiry.js';
import { expireDue } from '../session/interactions.js';
import { backOff } from './back-off.js';
import type { KeeperGround } from './keeper-ground.js';

interface Deadline {
  readonly key: SessionKey;
  readonly agent: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** How often it could not be answered since its row changed. */
  readonly tries: number;
}

/** The times at which requests to people expire, and their answers then. */
export class Deadlines {
  private readonly open = new Map<string, Deadline>();

  constructor(
    private readonly ground: KeeperGround,
    /** Goes on with a session whose request was answered. */
    private readonly goOn: (key: SessionKey, agent: string) => Promise<unknown>,
  ) {}

  set(text: string, deadline: Omit<Deadline, 'tries'>): void {
    this.open.set(text, { ...deadline, tries: 0 });
  }

  forget(text: string): void {
    this.open.delete(text);
  }

  /** Answers what is due, as anyone may, and goes on with it. A session that cannot be read holds up no other. */
  async answerDue(): Promise<void> {
    const { services, signal, wakeIn, report } = this.ground;
    const { clock } = services.env;
    for (const [text, deadline] of this.open) {
      const wait = deadline.at - clock.now();
      if (wait > 0) {
        wakeIn(Math.min(wait, CLOCK_LOOK_MS));
        continue;
      }
      if (signal.aborted) return;
      try {
        await this.expire(deadline);
        this.open.delete(text);
      } catch (error) {
        const { key, tries } = deadline;
        if (tries === 0) report('A request could not be answered at its expiry.', error, { session: key.id });
        const pause = backOff(tries);
        this.open.set(text, { ...deadline, at: clock.now() + pause, tries: tries + 1 });
        wakeIn(pause);
      }
    }
  }

  private async expire({ key, agent }: Deadline): Promise<void> {
    const { services } = this.ground;
    const { journal } = await openJournal(services, key);
    const hasExpired = await journal.commit((batch) => expireDue(batch, services.env.clock.now()), 'input');
    // Its row changed with that: where this fails, the session is an orphan.
    if (hasExpired && agent !== null) await this.goOn(key, agent);
  }
}
