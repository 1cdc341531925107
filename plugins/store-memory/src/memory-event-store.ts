import { streamCategory, type RecordedFact } from '@perdure/events';
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
import { checkAppend, checkRead, checkSubscribe, checkTruncate, tooLarge } from '@perdure/plugin-api/store-input';
import { FactLog, isPosition } from './fact-log.js';
import { Follower } from './follower.js';
import { MemoryStream } from './memory-stream.js';

const PAGE = 1_000;
const EMPTY_PAGE: ReadPage = { facts: [], head: 'none' };

/** Streams of facts in this process, and only here: the port `EventStore` in its shortest form. */
export class MemoryEventStore implements EventStore {
  readonly name = 'memory';
  readonly capabilities = { shared: false, durable: false };
  readonly limits = { maxEventBytes: 1024 * 1024, maxBatch: 256 };

  private readonly streams = new Map<string, MemoryStream>();
  private readonly log = new FactLog();
  private readonly followers = new Set<Follower>();
  private isClosed = false;

  async append(
    stream: string,
    facts: readonly NewFact[],
    { expected }: { readonly expected: ExpectedRevision },
  ): Promise<AppendResult> {
    this.checkOpen();
    checkAppend(stream, facts, expected, this.limits);
    const bytes = tooLarge(facts, this.limits.maxEventBytes);
    if (bytes !== undefined) return { status: 'too-large', bytes, limit: this.limits.maxEventBytes };

    const known = this.streams.get(stream);
    const actual = known?.head ?? 'none';
    if (actual !== expected) {
      const repeated = known?.lastOfRepeat(facts, expected);
      if (repeated === undefined) return { status: 'conflict', actual };
      return { status: 'stored', revision: repeated.revision, position: repeated.position };
    }

    const target = known ?? new MemoryStream();
    this.streams.set(stream, target);
    let last: RecordedFact | undefined;
    for (const { id, type, payload, metadata, detail } of facts) {
      last = { stream, revision: target.nextRevision, position: this.log.nextPosition, id, type, payload, metadata };
      target.add(last, detail === true);
      this.log.add(last);
    }
    if (last === undefined) throw new PerdureError('PERDURE_INTERNAL', { reason: 'an empty batch was let through' });
    for (const follower of this.followers) follower.wake();
    return { status: 'stored', revision: last.revision, position: last.position };
  }

  async read(stream: string, options: ReadOptions = {}): Promise<ReadPage> {
    this.checkOpen();
    checkRead(stream, options);
    options.signal?.throwIfAborted();
    return this.streams.get(stream)?.page(options, PAGE) ?? EMPTY_PAGE;
  }

  subscribe(source: StreamSource | StoreSource, options: SubscribeOptions = {}): AsyncIterable<FactBatch> {
    this.checkOpen();
    checkSubscribe(source, options, isPosition);
    return { [Symbol.asyncIterator]: () => this.follow(source, options) };
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.checkOpen();
    checkTruncate(stream, before);
    this.log.forget(this.streams.get(stream)?.truncate(before) ?? []);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const follower of this.followers) follower.end();
  }

  private follow(source: StreamSource | StoreSource, options: SubscribeOptions): AsyncIterator<FactBatch> {
    const follower = new Follower();
    const pages = follower.pages(
      'stream' in source ? this.streamPages(source, options) : this.storePages(source, options),
    );
    const leave = (): void => {
      follower.end();
      this.followers.delete(follower);
      options.signal?.removeEventListener('abort', leave);
    };
    this.followers.add(follower);
    options.signal?.addEventListener('abort', leave);
    if (this.isClosed || options.signal?.aborted === true) leave();
    return {
      async next() {
        const step = await pages.next();
        if (step.done === true) leave();
        return step;
      },
      async return() {
        leave();
        return pages.return(undefined);
      },
    };
  }

  private streamPages({ stream, after }: StreamSource, { types }: SubscribeOptions): () => FactBatch {
    let from = after === undefined ? 0 : after + 1;
    return () => {
      const page = this.streams.get(stream)?.page({ from }, PAGE) ?? EMPTY_PAGE;
      from = (page.facts.at(-1)?.revision ?? from - 1) + 1;
      return {
        facts: page.facts.filter(({ type }) => types?.includes(type) ?? true),
        caughtUp: page.next === undefined,
      };
    };
  }

  private storePages({ after }: StoreSource, { types, categories }: SubscribeOptions): () => FactBatch {
    let cursor = after;
    return () => {
      const page = this.log.page(cursor, PAGE);
      cursor = page.facts.at(-1)?.position ?? cursor;
      const facts = page.facts.filter(
        ({ type, stream }) => (types?.includes(type) ?? true) && (categories?.includes(streamCategory(stream)) ?? true),
      );
      return { facts, caughtUp: page.isLast, ...(cursor === undefined ? {} : { position: cursor }) };
    };
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
