import type { Database, Durability } from './database.js';
import { isVoidCommit, storeError } from './sqlite-error.js';

/** Work that changes streams. */
export interface Job<Result> {
  readonly durability: Durability;
  readonly stream: string;
  /** Runs inside the transaction, perhaps twice; what it throws concerns this job alone. */
  run(): Result;
  /** Does the same as one statement without a transaction; `undefined` when that cannot be. */
  atOnce?(): Result | undefined;
  /** The transaction was committed. Called before the promise resolves. */
  committed?(result: Result): void;
  /** The result when it cannot be known whether the commit took effect; without it the promise is rejected. */
  ambiguous?(cause: unknown): Result;
}

interface Waiting {
  readonly job: Job<unknown>;
  result: unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** More in one transaction would keep the process from everything else for too long. */
const LARGEST_TRANSACTION = 50;

/**
 * How many writers go on in one turn of the event loop. What each does next is seldom short, and timers and sockets of
 * the process must not wait for all of them.
 */
const LARGEST_RELEASE = 8;

/** So many batches of one stream in a row mean that it is the only active one, which gains nothing by waiting. */
const STREAK = 4;

/**
 * Puts the jobs of one turn of the event loop into one transaction, so that they share one wait for the disk. A job of
 * the only active stream is committed at once. Weak jobs ride along when durable ones commit.
 */
export class CommitQueue {
  private readonly database: Database;
  private waiting: Waiting[] = [];
  /** Committed, and not yet told. */
  private released: Waiting[] = [];
  private durableWaiting = 0;
  private isScheduled = false;
  private readonly lastStreams: string[] = [];

  constructor(database: Database) {
    this.database = database;
  }

  run<Result>(job: Job<Result>): Promise<Result> {
    const isAlone = this.isAlone(job);
    const result = isAlone && this.waiting.length === 0 ? this.tryAtOnce(job) : undefined;
    if (result !== undefined) return Promise.resolve(result);
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ job, result: undefined, resolve: resolve as (result: unknown) => void, reject });
      if (job.durability === 'durable') this.durableWaiting += 1;
      if (isAlone) {
        this.flush();
        this.release(LARGEST_RELEASE);
      }
      if (this.waiting.length > 0 || this.released.length > 0) this.schedule();
    });
  }

  /** Commits everything that waits, and tells all. */
  drain(): void {
    while (this.waiting.length > 0) this.flush();
    this.release(this.released.length);
  }

  private isAlone({ durability, stream }: Job<unknown>): boolean {
    return (
      durability === 'durable' &&
      this.durableWaiting === 0 &&
      this.waiting.length < LARGEST_TRANSACTION &&
      this.lastStreams.every((last) => last === stream)
    );
  }

  private tryAtOnce<Result>(job: Job<Result>): Result | undefined {
    let result: Result | undefined;
    try {
      this.database.use(job.durability);
      result = job.atOnce?.();
    } catch {
      // Whether it took effect is not known. The transaction that follows finds what is there, or what is wrong.
      return undefined;
    }
    if (result === undefined) return undefined;
    this.noteStream(job.stream);
    job.committed?.(result);
    return result;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      // Writers that go on now bring what the next transaction holds: it waits for the last of them.
      if (this.released.length === 0) this.flush();
      this.release(LARGEST_RELEASE);
      if (this.waiting.length > 0 || this.released.length > 0) this.schedule();
    });
  }

  private release(most: number): void {
    for (const { result, resolve } of this.released.splice(0, most)) resolve(result);
  }

  private flush(): void {
    const group = this.waiting.splice(0, LARGEST_TRANSACTION);
    if (group.length === 0) return;
    this.durableWaiting -= group.filter(({ job }) => job.durability === 'durable').length;
    this.commit(group);
  }

  private commit(group: readonly Waiting[]): void {
    const durability = group.some(({ job }) => job.durability === 'durable') ? 'durable' : 'weak';
    try {
      this.database.begin(durability);
    } catch (error) {
      rejectAll(group, error);
      return;
    }
    try {
      for (const waiting of group) waiting.result = waiting.job.run();
    } catch (error) {
      this.database.rollback();
      // One job failed, and it is not known for whose reason: each is tried alone and has its own outcome.
      if (group.length === 1) rejectAll(group, error);
      else for (const waiting of group) this.commit([waiting]);
      return;
    }
    try {
      this.database.commit();
    } catch (error) {
      this.database.rollback();
      settleFailedCommit(group, error);
      return;
    }
    for (const { job, result } of group) {
      if (job.durability === 'durable') this.noteStream(job.stream);
      job.committed?.(result);
    }
    this.released.push(...group);
  }

  private noteStream(stream: string): void {
    this.lastStreams.push(stream);
    if (this.lastStreams.length > STREAK) this.lastStreams.shift();
  }
}

function rejectAll(group: readonly Waiting[], error: unknown): void {
  for (const { reject } of group) reject(storeError(error));
}

/**
 * A full disk leaves the last frame of the log unwritten, so that the commit is void. After another failure the frames
 * may be whole on the disk, and would be found there after a crash: then nobody can know.
 */
function settleFailedCommit(group: readonly Waiting[], error: unknown): void {
  const cause = storeError(error);
  for (const { job, resolve, reject } of group) {
    if (isVoidCommit(error) || job.ambiguous === undefined) reject(cause);
    else resolve(job.ambiguous(cause));
  }
}
