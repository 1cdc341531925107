import { streamCategory } from '@perdure/events';
import {
  PerdureError,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type FactBatch,
  type NewFact,
  type ReadOptions,
  type ReadPage,
  type StoreSource,
  type StreamSource,
  type SubscribeOptions,
} from '@perdure/plugin-api';
import { Announcer } from './announcer.js';
import { appendJob } from './append-job.js';
import { CommitQueue } from './commit-queue.js';
import type { Database } from './database.js';
import { checkRead, checkSubscribe, checkTruncate, tooLarge } from '@perdure/plugin-api/store-input';
import { placeBehind, readIds, refuseFacts } from './event-store-input.js';
import type { FactTables } from './fact-tables.js';
import { checkEnd } from './loss.js';
import { isStorable, packBatch } from './packing.js';
import { StorePager, StreamPager } from './pagers.js';
import { parsePosition, STORE_BEGINNING } from './position.js';
import { guarded } from './sqlite-error.js';
import { WEAK_CATEGORIES, type StoreTables } from './store-page.js';
import { readStreamPage } from './stream-page.js';
import { Subscription, type Pager } from './subscription.js';
import type { TailWitness } from './tail-witness.js';
import { truncateJob } from './truncate-job.js';

/** Facts of a page for which no limit is given. */
const FACTS_OF_A_PAGE = 1_000;

/** What the stores of one file share. */
export interface StoreFile {
  readonly database: Database;
  readonly tables: StoreTables;
  readonly witness: TailWitness;
}

/** Streams of facts in a SQLite file. */
export class SqliteEventStore implements EventStore {
  readonly name = 'sqlite';
  readonly capabilities = { shared: true, durable: true };
  readonly limits = { maxEventBytes: 1024 * 1024, maxBatch: 256 };

  private readonly file: StoreFile;
  private readonly onClose: () => void;
  private readonly queue: CommitQueue;
  private readonly announcer: Announcer;
  private isClosed = false;

  constructor(file: StoreFile, onClose: () => void) {
    this.file = file;
    this.onClose = onClose;
    this.queue = new CommitQueue(file.database);
    this.announcer = new Announcer(file.database, file.tables);
  }

  async append(
    stream: string,
    facts: readonly NewFact[],
    { expected }: { readonly expected: ExpectedRevision },
  ): Promise<AppendResult> {
    this.checkOpen();
    const ids = readIds(stream, facts, expected, this.limits);
    const bytes = tooLarge(facts, this.limits.maxEventBytes);
    if (bytes !== undefined) return { status: 'too-large', bytes, limit: this.limits.maxEventBytes };
    const packed = packBatch(facts, ids);
    if (!isStorable(packed)) refuseFacts(facts);
    const { witness, tables } = this.file;
    const stored = appendJob(this.tablesOf(stream), tables.end, stream, facts, packed, expected, (announcement) => {
      if (announcement.durability === 'durable') {
        witness.note({ position: announcement.position.fact, stream, revision: announcement.last });
      }
      this.announcer.publish(announcement);
    });
    return this.queue.run(stored);
  }

  async read(stream: string, options: ReadOptions = {}): Promise<ReadPage> {
    this.checkOpen();
    checkRead(stream, options);
    options.signal?.throwIfAborted();
    const { from, direction, limit = FACTS_OF_A_PAGE, omitDetail } = options;
    return this.reading(() =>
      readStreamPage(this.tablesOf(stream), stream, {
        from,
        limit,
        backwards: direction === 'backwards',
        omitDetail: omitDetail === true,
      }),
    );
  }

  subscribe(source: StreamSource | StoreSource, options: SubscribeOptions = {}): AsyncIterable<FactBatch> {
    this.checkOpen();
    checkSubscribe(source, options, (text) => parsePosition(text) !== undefined);
    const after = placeBehind(source);
    const types = options.types && new Set(options.types);
    const categories = options.categories && new Set(options.categories);
    const reading = this.reading.bind(this);
    const pager = (): Pager =>
      'stream' in source
        ? new StreamPager(reading, this.tablesOf(source.stream), source.stream, source.after, types)
        : new StorePager(reading, this.file.tables, after ?? STORE_BEGINNING, { types, categories });
    return { [Symbol.asyncIterator]: () => this.follow(pager(), options.signal) };
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.checkOpen();
    checkTruncate(stream, before);
    const job = truncateJob(this.tablesOf(stream), this.file, stream, before);
    while ((await this.queue.run(job)) === 'more');
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.queue.drain();
    this.isClosed = true;
    this.announcer.close();
    this.onClose();
  }

  private follow(pager: Pager, signal: AbortSignal | undefined): AsyncIterator<FactBatch> {
    const subscription = new Subscription(pager);
    const pages = subscription.pages();
    const leave = (): void => {
      subscription.end();
      this.announcer.remove(subscription);
      signal?.removeEventListener('abort', leave);
    };
    if (this.isClosed || signal?.aborted === true) subscription.end();
    else {
      guarded(() => this.announcer.add(subscription));
      signal?.addEventListener('abort', leave);
    }
    return {
      async next() {
        try {
          const step = await pages.next();
          if (step.done === true) leave();
          return step;
        } catch (error) {
          leave();
          throw error;
        }
      },
      async return() {
        leave();
        return pages.return(undefined);
      },
    };
  }

  /** Runs a read on one state of the file, which must reach as far as the witness says. */
  private reading<Result>(work: () => Result): Result {
    const { database, tables, witness } = this.file;
    return guarded(() => {
      const witnessed = witness.read();
      return database.read(() => {
        checkEnd(tables, witnessed);
        return work();
      });
    });
  }

  private tablesOf(stream: string): FactTables {
    const { facts, weak } = this.file.tables;
    return WEAK_CATEGORIES.has(streamCategory(stream)) ? weak : facts;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
