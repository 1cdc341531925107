import {
  claimedHashes,
  FIRST_PREV_HASH,
  sessionStream,
  type FactRegistry,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  reasonOf,
  type AppendResult,
  type EventStore,
  type NewFact,
} from '@perdure/plugin-api';
import { readChain } from './chain-reader.js';
import { evolveRead } from './evolve.js';
import { FactBatch, type BatchContext, type DraftedFact } from './fact-batch.js';
import { encodeBatch, timeOf } from './fact-encoder.js';
import { beginningOf, type FoldedSession } from './session-loader.js';
import type { SessionState } from './session-state.js';
import type { StorePatience, Waiting } from './store-patience.js';

/** A fact as subscribers of this process get it: already parsed, or just written. */
export interface CommittedFact {
  readonly revision: number;
  readonly type: string;
  readonly payload: unknown;
  readonly recorded: Pick<RecordedFact, 'id' | 'metadata'>;
}

export type CommitListener = (facts: readonly CommittedFact[], state: SessionState) => void;

/**
 * Who commits: the owner, whoever brings an input, or a node that takes the session, which waits for the store as an
 * owner does and races others as an input does.
 */
export type Writer = 'owner' | 'input' | 'take-over';

/** How often an input writer tries before it gives up; an owner goes on until its facts are stored or it is fenced. */
const INPUT_TRIES = 20;

/**
 * The only writer of a session's facts, and the one place where this process keeps their fold. Commits come one after
 * the other; each is decided on the newest state and decided again when another writer was quicker.
 */
export class Journal {
  private folded: FoldedSession;
  private last: Promise<unknown> = Promise.resolve();
  private broken: PerdureError | undefined;
  private readonly listeners = new Set<CommitListener>();
  readonly stream: string;

  constructor(
    readonly key: SessionKey,
    private readonly store: EventStore,
    private readonly facts: FactRegistry,
    private readonly context: BatchContext,
    /** How long is waited for the store when it is away. */
    readonly patience: StorePatience,
    folded: FoldedSession,
  ) {
    this.stream = sessionStream(key);
    this.folded = folded;
  }

  get state(): SessionState {
    return this.folded.state;
  }

  /** The last revision; -1 while the stream has no fact. */
  get head(): number {
    return this.folded.revision;
  }

  get hash(): string {
    return this.folded.hash;
  }

  /** When the last fact was written, in epoch milliseconds. */
  get time(): number {
    return this.folded.time;
  }

  /** The facts that this build knows. */
  get registry(): FactRegistry {
    return this.facts;
  }

  /**
   * Appends what `decide` adds to its batch, and returns what it returns. `decide` may run several times and must only
   * look at the batch's state; what it throws refuses the commit. But for an owner it ends after 20 lost races with
   * PERDURE_STORE_CONTENDED. When the store is away an input ends soon: with PERDURE_STORE_AMBIGUOUS when what it
   * brought may be stored, which is found then when it is brought again, and with PERDURE_STORE_UNAVAILABLE when it is
   * certainly not. An owner waits longer, and its end is the journal's.
   */
  commit<Result>(decide: (batch: FactBatch) => Result, writer: Writer): Promise<Result> {
    return this.exclusively(() => this.tryCommit(decide, writer));
  }

  /** Folds what other writers appended. */
  refresh(): Promise<void> {
    return this.exclusively(() => this.readTail('input'));
  }

  /** Calls the listener after every commit and every refresh that found facts, in the order of revisions. */
  onCommit(listener: CommitListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  private async tryCommit<Result>(decide: (batch: FactBatch) => Result, writer: Writer): Promise<Result> {
    const waiting = writer === 'input' ? 'input' : 'owner';
    for (let tries = 1; ; tries++) {
      if (this.broken !== undefined) throw this.broken;
      const batch = new FactBatch(this.folded.state, this.head, this.context);
      const result = decide(batch);
      if (batch.facts.length === 0) return result;
      if (await this.append(batch, waiting)) return result;
      const before = this.head;
      await this.readTail(waiting);
      if (this.head === before) {
        throw this.breakWith(
          new PerdureError('PERDURE_STORE_TRUNCATED', { stream: this.stream, lastRevision: before }),
        );
      }
      if (writer !== 'owner' && tries >= INPUT_TRIES) {
        throw new PerdureError('PERDURE_STORE_CONTENDED', { session: this.key.id, tries });
      }
    }
  }

  /** Whether the batch is stored; `false` when another writer was quicker. */
  private async append(batch: FactBatch, waiting: Waiting): Promise<boolean> {
    const encoded = encodeBatch(batch.facts, {
      sessionId: this.key.id,
      labels: batch.state.labels,
      epoch: batch.state.ownership.epoch,
      prevHash: this.hash,
    });
    const outcome = await this.appendUntilKnown(encoded.facts, waiting);
    if (outcome.status === 'conflict') return false;
    if (outcome.status === 'too-large') {
      throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: outcome.bytes, limit: outcome.limit });
    }
    const time = batch.facts.at(-1)?.time ?? 0;
    this.folded = { state: batch.state, revision: outcome.revision, hash: encoded.hash, time };
    this.publish(committed(batch.facts, encoded.facts, outcome.revision));
    return true;
  }

  /**
   * Sends the identical batch until the store tells what became of it. A store that fails an owner for good ends this
   * journal, which could not keep what happens any more.
   */
  private async appendUntilKnown(
    facts: readonly NewFact[],
    waiting: Waiting,
  ): Promise<Exclude<AppendResult, { readonly status: 'ambiguous' }>> {
    const expected = this.head < 0 ? ('none' as const) : this.head;
    let mayBeStored = false;
    try {
      return await this.patience.insist(waiting, async () => {
        const outcome = await this.store.append(this.stream, facts, { expected });
        if (outcome.status !== 'ambiguous') return outcome;
        mayBeStored = true;
        throw unavailable(outcome.cause);
      });
    } catch (error) {
      // What a store refuses to take says nothing against the store, and an input that is given up nothing of the fold.
      if (isPerdureError(error) && error.entry.kind === 'caller') throw error;
      const end =
        waiting === 'input' && isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE') ? error : this.breakWith(error);
      // A later try that found nobody says nothing of what became of an earlier one.
      if (waiting === 'input' && mayBeStored) throw ambiguous(end);
      throw end;
    }
  }

  private breakWith(error: unknown): PerdureError {
    const typed = isPerdureError(error) ? error : unavailable(error);
    this.broken = typed;
    return typed;
  }

  private readTail(waiting: Waiting): Promise<void> {
    return this.patience.insist(waiting, () => this.readOn());
  }

  private async readOn(): Promise<void> {
    const start = { from: this.head + 1, prevHash: this.head < 0 ? FIRST_PREV_HASH : this.hash };
    for await (const page of readChain(this.store, this.stream, start)) {
      let { state } = this.head < 0 ? await beginningOf(page[0], this.store, this.facts) : this.folded;
      const facts: CommittedFact[] = [];
      for (const fact of page) {
        const read = this.facts.read(fact);
        state = evolveRead(state, read, { revision: fact.revision, time: timeOf(fact) });
        facts.push({ revision: fact.revision, type: fact.type, payload: read.payload, recorded: fact });
      }
      const end = page.at(-1) as RecordedFact;
      const hash = claimedHashes(end.metadata)?.hash ?? '';
      this.folded = { state, revision: end.revision, hash, time: timeOf(end) };
      this.publish(facts);
    }
  }

  private publish(facts: readonly CommittedFact[]): void {
    for (const listener of this.listeners) listener(facts, this.folded.state);
  }
}

function committed(
  facts: readonly DraftedFact[],
  stored: readonly { readonly id: string; readonly metadata: string }[],
  last: number,
): readonly CommittedFact[] {
  return facts.map((fact, index) => ({
    revision: last - facts.length + 1 + index,
    type: fact.type,
    payload: fact.payload,
    recorded: stored[index] as { readonly id: string; readonly metadata: string },
  }));
}

function unavailable(error: unknown): PerdureError {
  // What says so already is not wrapped into itself.
  if (isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE')) return error;
  return new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: reasonOf(error) }, { cause: error });
}

function ambiguous(error: PerdureError): PerdureError {
  const { reason = reasonOf(error) } = error.data;
  return new PerdureError('PERDURE_STORE_AMBIGUOUS', { reason }, { cause: error });
}
