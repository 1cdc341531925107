import { setTimeout as delay } from 'node:timers/promises';
import { isPerdureError, reasonOf, type Logger } from '@perdure/plugin-api';

/** Milliseconds that an input waits for a store that is away, and whatever lets a session go. */
const SHORT_MS = 2_000;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;

/** Who waits: a node for what it has to store of its own work, or somebody for an answer. */
export type Waiting = 'owner' | 'input';

/**
 * How long those wait who work on a session while its store cannot be reached. A node waits long, because what happened
 * would be lost with it; whoever brings an input is told soon and may bring it again.
 */
export class StorePatience {
  private isLeaving = false;

  /**
   * @param ms for what a node has to store
   * @param logger is told of a node's wait that is not short, once
   */
  constructor(
    private readonly ms: number,
    private readonly logger: Logger,
    private readonly session: string,
  ) {}

  /** The session is let go: from now on nobody waits long. */
  hurry(): void {
    this.isLeaving = true;
  }

  /** Tries the work again while the store is away. Throws what it threw last when the patience is over. */
  async insist<Result>(
    waiting: Waiting,
    work: () => Promise<Result>,
    isOver: () => boolean = () => false,
  ): Promise<Result> {
    const since = performance.now();
    let hurriedAt: number | undefined;
    let isTold = false;
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (!isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE') || isOver()) throw error;
        const now = performance.now();
        if (this.isLeaving) hurriedAt ??= now;
        const isShort = waiting === 'input' && now - since >= SHORT_MS;
        const isLate = hurriedAt !== undefined && now - Math.max(since, hurriedAt) >= SHORT_MS;
        if (isShort || isLate || now - since >= this.ms) throw error;
        if (!isTold && now - since >= SHORT_MS) {
          isTold = true;
          const { session } = this;
          this.logger.log('warn', 'The store cannot be reached; a session waits.', {
            session,
            reason: reasonOf(error),
          });
        }
        await delay(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
      }
    }
  }
}
