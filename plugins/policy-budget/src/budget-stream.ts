import { budgetStream, FIRST_PREV_HASH, type Actor, type BudgetFact, type SessionKey } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  reasonOf,
  type AppendResult,
  type EventStore,
  type NewFact,
} from '@perdure/plugin-api';
import { evolveBudget, noBudget, type BudgetState } from './budget-state.js';
import { encodeFacts } from './encode-facts.js';
import { checkedHash, readBudgetFact } from './read-facts.js';

/** How often a batch is decided again before the writer gives up. */
const TRIES = 20;
const LONGEST_WAIT_MS = 1_000;

export interface BudgetWriter {
  readonly actor: Actor;
  /** Epoch milliseconds, for the facts. */
  readonly now: () => number;
}

/** What a decision appends, and what it comes to. */
export interface Decision<Result> {
  readonly facts: readonly BudgetFact[];
  readonly result: Result;
}

/**
 * The budget stream of one tree as this process sees it: its fold, and the way to append to it. Work on it comes one
 * after the other; each batch is decided on the newest state and decided again when another writer was quicker.
 */
export class BudgetStream {
  private folded: BudgetState = noBudget;
  private head = -1;
  private hash = FIRST_PREV_HASH;
  private last: Promise<unknown> = Promise.resolve();
  private isLeaving = false;
  readonly name: string;

  constructor(
    readonly root: SessionKey,
    private readonly store: EventStore,
    private readonly writer: BudgetWriter,
    /** Milliseconds that work on it waits for a store that is away. */
    private readonly patienceMs: number,
  ) {
    this.name = budgetStream(root);
  }

  get state(): BudgetState {
    return this.folded;
  }

  /** The last revision; -1 while the stream has no fact. */
  get revision(): number {
    return this.head;
  }

  /** From now on nobody waits for a store that is away. */
  hurry(): void {
    this.isLeaving = true;
  }

  /** Folds what other writers appended. */
  refresh(): Promise<void> {
    return this.exclusively(() => this.readTail());
  }

  /**
   * Appends what `decide` says, which may run several times and must only look at the state. Throws
   * PERDURE_STORE_CONTENDED after 20 lost races, and PERDURE_STORE_UNAVAILABLE when the store was away for too long.
   */
  commit<Result>(decide: (state: BudgetState) => Decision<Result>): Promise<Result> {
    return this.exclusively(async () => {
      for (let tries = 1; ; tries++) {
        const { facts, result } = decide(this.folded);
        if (facts.length === 0 || (await this.append(facts))) return result;
        const before = this.head;
        await this.readTail();
        if (this.head === before) {
          throw new PerdureError('PERDURE_STORE_TRUNCATED', { stream: this.name, lastRevision: before });
        }
        if (tries >= TRIES) throw this.contended(tries);
        await delay(Math.random() * Math.min(50, 2 ** tries));
      }
    });
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Whether the facts are stored; `false` when another writer was quicker. */
  private async append(facts: readonly BudgetFact[]): Promise<boolean> {
    const { actor, now } = this.writer;
    const frame = { root: this.root.id, actor, time: now(), prevHash: this.hash };
    const encoded = encodeFacts(facts, frame);
    const outcome = await this.appendUntilKnown(encoded.facts);
    if (outcome.status === 'conflict') return false;
    if (outcome.status === 'too-large') {
      throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: outcome.bytes, limit: outcome.limit });
    }
    for (const fact of facts) this.folded = evolveBudget(this.folded, fact, outcome.position);
    this.head += facts.length;
    this.hash = encoded.hash;
    return true;
  }

  /** Sends the identical batch until the store tells what became of it. */
  private appendUntilKnown(
    facts: readonly NewFact[],
  ): Promise<Exclude<AppendResult, { readonly status: 'ambiguous' }>> {
    const expected = this.head < 0 ? ('none' as const) : this.head;
    return this.insist(async () => {
      const outcome = await this.store.append(this.name, facts, { expected });
      if (outcome.status !== 'ambiguous') return outcome;
      const { cause } = outcome;
      if (isPerdureError(cause, 'PERDURE_STORE_UNAVAILABLE')) throw cause;
      throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: reasonOf(cause) }, { cause });
    });
  }

  private readTail(): Promise<void> {
    return this.insist(async () => {
      for (let from: number | undefined = this.head + 1; from !== undefined;) {
        const page: Awaited<ReturnType<EventStore['read']>> = await this.store.read(this.name, { from });
        for (const fact of page.facts) {
          this.hash = checkedHash(fact, this.head + 1, this.hash);
          this.folded = evolveBudget(this.folded, readBudgetFact(fact), fact.position);
          this.head = fact.revision;
        }
        from = page.next;
      }
    });
  }

  /** Tries the work again while the store is away. */
  async insist<Result>(work: () => Promise<Result>): Promise<Result> {
    const since = performance.now();
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        const isAway = isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE');
        if (!isAway || this.isLeaving || performance.now() - since >= this.patienceMs) throw error;
        await delay(Math.min(LONGEST_WAIT_MS, 10 * 2 ** tries));
      }
    }
  }

  private contended(tries: number): PerdureError {
    return new PerdureError('PERDURE_STORE_CONTENDED', { session: this.name, tries });
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
