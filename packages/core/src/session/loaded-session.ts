import { setMaxListeners } from 'node:events';
import type { PayloadOf } from '@perdure/events';
import { isPerdureError, PerdureError, type ResumeOptions, type TurnResult } from '@perdure/plugin-api';
import { Executor } from '../turn/executor.js';
import type { SessionWork } from '../turn/session-work.js';
import { inputIds, type InputIds } from './accept-input.js';
import { BesideTurns } from './beside-turns.js';
import type { FactBatch } from './fact-batch.js';
import { FactTellers } from './fact-tellers.js';
import { HostCalls, type HostWork } from './host-calls.js';
import { askForHostChanges, changesAtRest } from './host-changes.js';
import type { CommittedFact } from './journal.js';
import { erasedError } from './refuse-erased.js';
import type { SnapshotKeeper } from '../project/snapshot-keeper.js';
import { partsToGoWithout } from './missing-parts.js';
import { releaseOwnership, takeOwnership, type Ownership, type ReleaseReason } from './ownership.js';
import { SessionIndex } from './session-index.js';
import { isInputType, StreamFollower } from './stream-follower.js';
import type { FactListener, TurnWaiters } from './turn-waiters.js';
import { typedError } from './typed-error.js';
import { isRunnable } from './waiting.js';

/**
 * A session in this process: its fold, what follows its stream, and the executor while this node owns it. It may be
 * dropped at any time; everything that counts is in the stream.
 */
export class LoadedSession {
  readonly index: SessionIndex;
  private held: Ownership | undefined;
  private executor: Executor | undefined;
  private taking: Promise<void> | undefined;
  private readonly closing = new AbortController();
  private readonly ending = new AbortController();
  /** Why this process can tell no more of the session, when something failed. */
  failure: PerdureError | undefined;
  /** What this node had when that happened: the home gives it back, by a journal that can be trusted. */
  lost: Ownership | undefined;
  private readonly follower: StreamFollower;
  private readonly tellers: FactTellers;
  readonly besideTurns: BesideTurns;
  private readonly hostCalls: HostCalls;
  /** Nothing is taken any more. */
  private isLeaving = false;

  constructor(
    readonly work: SessionWork,
    readonly ttlMs: number,
    /** Opens the stream of a session that has no facts yet. */
    readonly create: (batch: FactBatch) => void,
    private readonly snapshots: SnapshotKeeper | undefined,
    /** Those who wait for turns of the session, whether or not it is loaded. */
    private readonly waiters: TurnWaiters,
  ) {
    this.index = new SessionIndex(() => work.journal.state);
    this.follower = new StreamFollower(work, () => this.isOwner);
    this.tellers = new FactTellers(work, this.index, this.signal);
    this.hostCalls = new HostCalls(work);
    this.besideTurns = new BesideTurns(work, () => this.isOwner, this.signal);
    // Every reader and every waiter listens to it.
    setMaxListeners(0, this.closing.signal, this.ending.signal);
    work.journal.onCommit((facts) => {
      work.feed.addFacts(facts);
      waiters.tell(facts, this.index);
      for (const fact of facts) {
        this.react(fact);
        this.tellers.tellOf(fact, this.isOwner);
      }
      // Whoever read it first: a commit that met it, or the follower of the stream.
      if (facts.some(({ type }) => isInputType(type))) this.wake();
    });
    // An owner elsewhere may die; whoever waits for a turn looks after it.
    waiters.watchWith(() => this.lookAfter());
    if (waiters.turns.length > 0) this.follow();
    waiters.answer((turnId) => this.index.resultOf(turnId));
    if (work.journal.state.isErased) this.fail(erasedError(work.key.id));
  }

  /** Aborts when the session is let go in this process. */
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  /** Aborts when this process can tell no more of the session: it was let go, or the reason, which failed. */
  get over(): AbortSignal {
    return this.ending.signal;
  }

  /** Whether this node runs the session. */
  get isOwner(): boolean {
    return this.held !== undefined && this.held.epoch === this.work.journal.state.ownership.epoch;
  }

  follow(): void {
    this.follower.follow();
  }

  /**
   * Appends an input. A session that has no facts yet is created with it. Ids for the input are made before the first
   * try and are the same in every other.
   */
  accept<Result>(decide: (batch: FactBatch, ids: InputIds) => Result): Promise<Result> {
    const ids = inputIds(this.work);
    return this.work.journal.commit((batch) => {
      this.create(batch);
      return decide(batch, ids);
    }, 'input');
  }

  /** Sees to it that work that is there is done: by this node when the session is free, else by its owner. */
  async run(options: ResumeOptions & { readonly insist: boolean }): Promise<void> {
    const { journal, env } = this.work;
    if (!isRunnable(journal.state, env.clock.now()) && this.held === undefined) return;
    // The work is in the stream, for whoever has the session next.
    if (this.isLeaving && !options.insist) return;
    try {
      await this.own(options);
      this.executor?.wake();
    } catch (error) {
      if (options.insist) throw error;
      if (isPerdureError(error, 'PERDURE_SESSION_OWNED') || isPerdureError(error, 'PERDURE_NODE_DRAINING')) return;
      if (isPerdureError(error) && error.entry.kind !== 'unavailable') throw error;
      // The work is in the stream; that it cannot be begun here is told by how it ends.
      this.fail(error);
    }
  }

  /** The same behind an input: the input is there, and where a part is missing a node that has it goes on. */
  async runIfSupplied(): Promise<void> {
    try {
      await this.run({ insist: false });
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_NOT_SUPPLIED')) throw error;
    }
  }

  /** Takes the session for this node. Throws PERDURE_SESSION_OWNED while another that lives has it. */
  own(options: ResumeOptions): Promise<void> {
    this.taking ??= this.take(options).finally(() => (this.taking = undefined));
    return this.taking;
  }

  /** How a turn ends. Resolves in any case: `suspended` when this process can no longer follow it. */
  finished(turnId: string, onFacts?: FactListener): Promise<TurnResult> {
    const result = this.index.resultOf(turnId);
    if (result !== undefined) return Promise.resolve(result);
    if (this.failure !== undefined || this.signal.aborted) return Promise.resolve(this.suspended(turnId));
    this.follow();
    return this.waiters.wait(turnId, onFacts);
  }

  /** Calls of a turn that was stopped are no longer waited for, where this node runs them. */
  giveUpCalls(turnId: string): void {
    this.executor?.giveUpCalls(turnId);
  }

  /** Does the host's own work beside the turn, on this node. */
  async beside<Result>(work: HostWork<Result>): Promise<Result> {
    await this.own({});
    this.executor?.wake();
    await changesAtRest(this.work.journal, this.over);
    return this.hostCalls.make(work, this.held);
  }

  /**
   * Gives the session back when it is idle or only waits for people, and goes on as one that follows it. Whether this
   * node does not have it any more.
   */
  async release(reason: ReleaseReason, isLeaving = false): Promise<boolean> {
    const { held, executor } = this;
    if (held === undefined || this.failure !== undefined) return this.failure === undefined;
    if (!(await releaseOwnership(this.work.journal, held, this.work.env, reason, isLeaving))) return false;
    await executor?.discardDraft();
    return true;
  }

  /** Lets the session go. A turn that runs is left where another owner can go on. */
  async close(graceMs: number, reason: ReleaseReason, isErased = false): Promise<void> {
    if (this.signal.aborted) return;
    this.isLeaving = true;
    this.work.journal.patience.hurry();
    await this.taking?.catch(() => undefined);
    const { executor, held } = this;
    await this.besideTurns.titles.end(graceMs);
    try {
      if (!(await this.release(reason))) {
        await Promise.all([executor?.suspend(graceMs), this.hostCalls.end(graceMs)]);
        await this.release(reason, true);
      }
      await this.tellers.tellEnd(held !== undefined);
      if (this.failure === undefined) await this.snapshots?.finish();
    } finally {
      if (isErased) this.failure ??= erasedError(this.work.key.id);
      this.end();
      this.waiters.answer((turnId) => this.suspended(turnId));
    }
  }

  /** Leaves the memory of this process, which goes on to look after those who wait for the session's turns. */
  async unload(): Promise<void> {
    this.isLeaving = true;
    this.work.journal.patience.hurry();
    this.executor?.leave();
    await this.tellers.settle();
    this.end();
    if (this.failure === undefined) await this.snapshots?.finish();
  }

  private end(): void {
    const closed = new PerdureError('PERDURE_SESSION_CLOSED', { session: this.work.key.id });
    this.waiters.watchWith(undefined);
    this.closing.abort(closed);
    this.ending.abort(this.failure ?? closed);
    this.hostCalls.breakOff();
    this.follower.end();
    this.work.feed.pulse.beat();
  }

  private async take(options: ResumeOptions): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const { journal, lease, env, key } = this.work;
    if (this.isLeaving) throw new PerdureError('PERDURE_SESSION_CLOSED', { session: key.id });
    const takeOver = options.takeOver ?? false;
    const missing = partsToGoWithout(this.work, options.withoutMissing ?? false);
    const held = await takeOwnership(journal, lease, env, { takeOver, held: this.held, create: this.create });
    await askForHostChanges(this.work);
    if (held === this.held && this.executor !== undefined) return;
    this.held = held;
    const executor: Executor = new Executor(this.work, held, missing, (error) => this.lose(executor, error));
    this.executor = executor;
    this.follower.again();
  }

  private react(fact: CommittedFact): void {
    switch (fact.type) {
      case 'StopRequested':
        this.executor?.stopTurn((fact.payload as PayloadOf<'StopRequested'>).turnId);
        return this.waiters.answer((turnId) => this.index.resultOf(turnId));
      case 'ToolCallDecided':
        return this.index.decided(fact.payload as PayloadOf<'ToolCallDecided'>);
      case 'OwnershipTaken':
        if (this.held === undefined || this.isOwner) return undefined;
        this.executor?.leave();
        // A call that runs on here may take long; what the next owner does is told meanwhile.
        return this.follower.again();
      case 'OwnershipReleased':
        return this.letGo();
      case 'SessionErased':
        return this.fail(erasedError(this.work.key.id));
      case 'RunEnded':
      case 'PromptCancelled':
        return this.waiters.answer((turnId) => this.index.resultOf(turnId));
      default:
        return undefined;
    }
  }

  /** Someone added something: the owner looks at it; who waits for the end of a free session goes on with it. */
  private wake(): void {
    if (this.executor !== undefined) this.executor.wake();
    else if (this.waiters.turns.length > 0 && this.work.journal.state.ownership.owner === undefined) this.lookAfter();
  }

  /** An owner elsewhere may have died: then its work is this node's. */
  lookAfter(): void {
    if (this.held !== undefined || this.isLeaving) return;
    this.runIfSupplied().catch((error: unknown) => this.fail(error));
  }

  /** The session was given back with nothing of it under way. */
  private letGo(): void {
    if (this.held === undefined) return;
    this.executor?.retire();
    this.executor = undefined;
    this.held = undefined;
    this.follower.again();
  }

  /** An executor ended by an error. */
  private lose(executor: Executor, error: PerdureError): void {
    if (this.executor !== executor) return;
    const { held } = this;
    this.executor = undefined;
    this.held = undefined;
    if (error.code === 'PERDURE_SESSION_FENCED') this.follower.again();
    else this.fail(error, held);
  }

  /** This process can no longer tell how the session goes on. */
  private fail(error: unknown, held = this.held): void {
    this.lost ??= held;
    this.failure ??= typedError(error, this.work.redaction);
    this.waiters.answer((turnId) => this.suspended(turnId));
    this.ending.abort(this.failure);
  }

  private suspended(turnId: string): TurnResult {
    const error = this.failure ?? new PerdureError('PERDURE_SESSION_CLOSED', { session: this.work.key.id });
    return this.index.suspendedResult(turnId, error);
  }
}
