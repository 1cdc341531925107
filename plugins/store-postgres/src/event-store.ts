import { streamCategory } from '@perdure/events';
import {
  PerdureError,
  type AppendOptions,
  type AppendResult,
  type EventStore,
  type FactBatch,
  type NewFact,
  type ReadOptions,
  type ReadPage,
  type StoreSource,
  type StreamSource,
  type SubscribeOptions,
} from '@perdure/plugin-api';
import { checkAppend, checkRead, checkSubscribe, checkTruncate, tooLarge } from '@perdure/plugin-api/store-input';
import type { Announcement } from './announcement.js';
import { Announcer } from './announcer.js';
import { AppendQueue, type StoredBatch } from './append-queue.js';
import { appendRequest } from './append-request.js';
import type { Connections, Query } from './connections.js';
import { streamKey } from './names.js';
import type { Settings } from './options.js';
import { StorePager, StreamPager, type Pager } from './pagers.js';
import { parsePosition, positionText } from './position.js';
import { readStreamPage } from './stream-page.js';
import { Subscription } from './subscription.js';
import type { Witness } from './witness.js';

/** Facts of a page for which no limit is given, and of the largest one. */
const FACTS_OF_A_PAGE = 1_000;

/** Facts that are deleted in one transaction. */
const FACTS_OF_A_TRUNCATION = 1_000;

/** Streams whose truncation may come back after the death of the server's machine. */
const WEAK_CATEGORIES: ReadonlySet<string> = new Set(['draft', 'lease']);

/** Streams of facts in PostgreSQL. */
export class PostgresEventStore implements EventStore {
  readonly name = 'postgres';
  readonly capabilities = { shared: true, durable: true };
  readonly limits = { maxEventBytes: 1024 * 1024, maxBatch: 256 };

  private readonly query: Query;
  private readonly schema: string;
  private readonly onClose: () => Promise<void>;
  private readonly queue: AppendQueue;
  private readonly announcer: Announcer;
  private closing: Promise<void> | undefined;

  constructor(connections: Connections, settings: Settings, witness: Witness, onClose: () => Promise<void>) {
    this.query = (statement, values) => connections.query(statement, values);
    this.schema = settings.names.schema;
    this.onClose = onClose;
    this.announcer = new Announcer(connections, settings.names, settings);
    this.queue = new AppendQueue(connections, this.schema, (stored) => {
      const { stream, facts } = stored.request;
      witness.note({ stream, revision: stored.revision, id: facts.at(-1)?.id ?? '' });
      this.announcer.publish(announcementOf(stored));
    });
  }

  async append(stream: string, facts: readonly NewFact[], { expected }: AppendOptions): Promise<AppendResult> {
    this.checkOpen();
    checkAppend(stream, facts, expected, this.limits);
    const limit = this.limits.maxEventBytes;
    const bytes = tooLarge(facts, limit);
    if (bytes !== undefined) return { status: 'too-large', bytes, limit };
    return this.queue.append(appendRequest(stream, facts, expected));
  }

  async read(stream: string, options: ReadOptions = {}): Promise<ReadPage> {
    this.checkOpen();
    checkRead(stream, options);
    const { from, direction, limit = FACTS_OF_A_PAGE, omitDetail, signal } = options;
    signal?.throwIfAborted();
    const backwards = direction === 'backwards';
    const page = readStreamPage(this.query, this.schema, stream, {
      from,
      limit: Math.min(limit, FACTS_OF_A_PAGE),
      backwards,
      omitDetail,
    });
    return signal === undefined ? page : abortable(page, signal);
  }

  subscribe(source: StreamSource | StoreSource, options: SubscribeOptions = {}): AsyncIterable<FactBatch> {
    this.checkOpen();
    checkSubscribe(source, options, (text) => parsePosition(text) !== undefined);
    return { [Symbol.asyncIterator]: () => this.follow(this.pager(source, options), options.signal) };
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.checkOpen();
    checkTruncate(stream, before);
    const isWeak = WEAK_CATEGORIES.has(streamCategory(stream));
    const statement = { name: 'truncate', text: `select ${this.schema}.truncate_v1($1, $2, $3, $4)` };
    const values = [streamKey(stream), before, FACTS_OF_A_TRUNCATION, isWeak];
    while ((await this.query(statement, values))[0]?.[0] === true);
  }

  /** Batches that were given before are still stored. */
  async close(): Promise<void> {
    this.closing ??= this.end();
    await this.closing;
  }

  private async end(): Promise<void> {
    await this.announcer.close();
    await this.queue.drain();
    await this.onClose();
  }

  private pager(source: StreamSource | StoreSource, { categories, types }: SubscribeOptions): Pager {
    const { query, schema } = this;
    const wanted = types && new Set(types);
    if ('stream' in source) return new StreamPager(query, schema, source.stream, source.after, wanted);
    const after = source.after === undefined ? 0 : (parsePosition(source.after) ?? 0);
    return new StorePager(query, schema, after, { categories: categories && new Set(categories), types: wanted });
  }

  private follow(pager: Pager, signal: AbortSignal | undefined): AsyncIterator<FactBatch> {
    const subscription = new Subscription(pager);
    const pages = subscription.pages();
    const leave = (): void => {
      subscription.end();
      this.announcer.remove(subscription);
      signal?.removeEventListener('abort', leave);
    };
    if (this.closing !== undefined || signal?.aborted === true) subscription.end();
    else {
      this.announcer.add(subscription);
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

  private checkOpen(): void {
    if (this.closing !== undefined) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function announcementOf({ request, revision: last, position: text, isRepeat }: StoredBatch): Announcement {
  const { stream, facts } = request;
  const position = parsePosition(text) ?? 0;
  const behind = position - facts.length;
  const first = last - facts.length + 1;
  if (isRepeat) return { stream, first, last, behind, position };
  const recorded = facts.map(({ id, type, payload, metadata }, index) => ({
    stream,
    revision: first + index,
    position: positionText(behind + 1 + index),
    id,
    type,
    payload,
    metadata,
  }));
  return { stream, first, last, behind, position, facts: recorded };
}

/** Rejects with the reason of the signal as soon as it is aborted. The page is read to its end and thrown away. */
async function abortable<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
