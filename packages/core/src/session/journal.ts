import {
  claimedHashes,
  FIRST_PREV_HASH,
  sessionStream,
  type FactRegistry,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import { isPerdureError, PerdureError, reasonOf, type EventStore } from '@perdure/plugin-api';
import { readChain } from './chain-reader.js';
import { evolveRead } from './evolve.js';
import { FactBatch, type BatchContext, type DraftedFact } from './fact-batch.js';
import { encodeBatch, timeOf } from './fact-encoder.js';
import { beginningOf, type FoldedSession } from './session-loader.js';
import type { SessionState } from './session-state.js';

/** A fact as subscribers of this process get it: already parsed, or just written. */
export interface CommittedFact {
  readonly revision: number;
  readonly type: string;
  readonly payload: unknown;
  readonly recorded: Pick<RecordedFact, 'id' | 'metadata'>;
}

export type CommitListener = (facts: readonly CommittedFact[], state: SessionState) => void;

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
   * look at the batch's state; what it throws refuses the commit. With `lane: 'input'` the commit ends after 20 lost
   * races with PERDURE_STORE_CONTENDED.
   */
  commit<Result>(decide: (batch: FactBatch) => Result, lane: 'owner' | 'input'): Promise<Result> {
    return this.exclusively(() => this.tryCommit(decide, lane));
  }

  /** Folds what other writers appended. */
  refresh(): Promise<void> {
    return this.exclusively(() => this.readTail());
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

  private async tryCommit<Result>(decide: (batch: FactBatch) => Result, lane: 'owner' | 'input'): Promise<Result> {
    for (let tries = 1; ; tries++) {
      if (this.broken !== undefined) throw this.broken;
      const batch = new FactBatch(this.folded.state, this.head, this.context);
      const result = decide(batch);
      if (batch.facts.length === 0) return result;
      if (await this.append(batch)) return result;
      const before = this.head;
      await this.readTail();
      if (this.head === before) {
        throw this.breakWith(
          new PerdureError('PERDURE_STORE_TRUNCATED', { stream: this.stream, lastRevision: before }),
        );
      }
      if (lane === 'input' && tries >= INPUT_TRIES) {
        throw new PerdureError('PERDURE_STORE_CONTENDED', { session: this.key.id, tries });
      }
    }
  }

  /** Whether the batch is stored; `false` when another writer was quicker. */
  private async append(batch: FactBatch): Promise<boolean> {
    const encoded = encodeBatch(batch.facts, {
      sessionId: this.key.id,
      labels: batch.state.labels,
      epoch: batch.state.ownership.epoch,
      prevHash: this.hash,
    });
    const expected = this.head < 0 ? ('none' as const) : this.head;
    for (let tries = 0; ; tries++) {
      const outcome = await this.appendOnce(() => this.store.append(this.stream, encoded.facts, { expected }));
      if (outcome.status === 'stored') {
        const time = batch.facts.at(-1)?.time ?? 0;
        this.folded = { state: batch.state, revision: outcome.revision, hash: encoded.hash, time };
        this.publish(committed(batch.facts, encoded.facts, outcome.revision));
        return true;
      }
      if (outcome.status === 'conflict') return false;
      if (outcome.status === 'too-large') {
        throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: outcome.bytes, limit: outcome.limit });
      }
      await delay(Math.min(1_000, 10 * 2 ** tries));
    }
  }

  /** A store that fails for good ends this journal: what it holds could no longer be trusted to be the stream. */
  private async appendOnce<Result>(append: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries++) {
      try {
        return await append();
      } catch (error) {
        const wait = isPerdureError(error) && error.entry.retryable && error.code !== 'PERDURE_STORE_FULL' && tries < 8;
        // What a store refuses to take says nothing against the store.
        if (isPerdureError(error) && error.entry.kind === 'caller') throw error;
        if (!wait) throw this.breakWith(error);
        await delay(Math.min(1_000, 10 * 2 ** tries));
      }
    }
  }

  private breakWith(error: unknown): PerdureError {
    const typed = isPerdureError(error)
      ? error
      : new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: reasonOf(error) }, { cause: error });
    this.broken = typed;
    return typed;
  }

  private async readTail(): Promise<void> {
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

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
