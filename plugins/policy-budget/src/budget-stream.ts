import { budgetStream, FIRST_PREV_HASH, type Actor, type BudgetFact, type SessionKey } from '@perdure/events';
import { PerdureError, type AppendResult, type EventStore, type NewFact } from '@perdure/plugin-api';
import { evolveBudget, noBudget, type BudgetState } from './budget-state.js';
import { encodeFacts } from './encode-facts.js';
import { checkedHash, readBudgetFact } from './read-facts.js';

/** How often a batch is decided again, and an ambiguous one sent again, before the writer gives up. */
const TRIES = 20;

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
  readonly name: string;

  constructor(
    readonly root: SessionKey,
    private readonly store: EventStore,
    private readonly writer: BudgetWriter,
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

  /** Folds what other writers appended. */
  refresh(): Promise<void> {
    return this.exclusively(() => this.readTail());
  }

  /**
   * Appends what `decide` says, which may run several times and must only look at the state. Throws
   * PERDURE_STORE_CONTENDED after 20 lost races.
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

  private async appendUntilKnown(
    facts: readonly NewFact[],
  ): Promise<Exclude<AppendResult, { readonly status: 'ambiguous' }>> {
    const expected = this.head < 0 ? ('none' as const) : this.head;
    for (let tries = 1; ; tries++) {
      const outcome = await this.store.append(this.name, facts, { expected });
      if (outcome.status !== 'ambiguous') return outcome;
      if (tries >= TRIES) throw this.contended(tries);
      await delay(Math.min(200, 10 * 2 ** tries));
    }
  }

  private async readTail(): Promise<void> {
    for (let from: number | undefined = this.head + 1; from !== undefined;) {
      const page: Awaited<ReturnType<EventStore['read']>> = await this.store.read(this.name, { from });
      for (const fact of page.facts) {
        this.hash = checkedHash(fact, this.head + 1, this.hash);
        this.folded = evolveBudget(this.folded, readBudgetFact(fact), fact.position);
        this.head = fact.revision;
      }
      from = page.next;
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
