import { setMaxListeners } from 'node:events';
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
import {
  checkAppend,
  checkRead,
  checkSubscribe,
  checkTruncate,
  invalidInput,
  tooLarge,
} from '@perdure/plugin-api/store-input';
import { appendBatch } from './append/append-batch.js';
import type { CallQueue } from './append/call-queue.js';
import type { Connection } from './client/connection.js';
import { follow, storeBatches, streamBatches } from './follow/follow.js';
import { subscription } from './follow/subscription.js';
import { Watch } from './follow/watch.js';
import type { Reader } from './read/reader.js';
import { truncate } from './truncate.js';
import { isArtifactStream } from './wire/artifact-stream.js';
import { positionOf } from './wire/position.js';

export interface EventStoreDbOptions {
  /** Milliseconds after which a call is given up; an append is `ambiguous` then. */
  readonly timeoutMs: number;
  /** Bytes of one append. The server's own limit, 1 MiB by default, must not be smaller. */
  readonly maxAppendBytes: number;
}

/** What the stores of one server share. */
export interface ServerAccess {
  readonly connection: Connection;
  readonly queue: CallQueue;
  readonly reader: Reader;
}

/** Streams of facts in EventStoreDB: the port `EventStore` for many nodes. */
export class EventStoreDbEventStore implements EventStore {
  readonly name = 'eventstoredb';
  readonly capabilities = { shared: true, durable: true };
  readonly limits = { maxEventBytes: 256 * 1024, maxBatch: 256 };

  private readonly connection: Connection;
  private readonly options: EventStoreDbOptions;
  private readonly queue: CallQueue;
  private readonly reader: Reader;
  private readonly onClose: () => Promise<void>;
  private readonly watch: Watch;
  private readonly closing = new AbortController();

  constructor(access: ServerAccess, options: EventStoreDbOptions, onClose: () => Promise<void>) {
    this.connection = access.connection;
    this.queue = access.queue;
    this.reader = access.reader;
    this.options = options;
    this.onClose = onClose;
    this.watch = new Watch(access.connection, options.timeoutMs);
    // Every follower listens to it.
    setMaxListeners(0, this.closing.signal);
  }

  async append(stream: string, facts: readonly NewFact[], { expected }: AppendOptions): Promise<AppendResult> {
    this.checkOpen();
    checkAppend(stream, facts, expected, this.limits);
    checkStream(stream);
    const { maxEventBytes } = this.limits;
    const bytes = tooLarge(facts, maxEventBytes);
    if (bytes !== undefined) return { status: 'too-large', bytes, limit: maxEventBytes };
    // A life sign that came too late because of much else to do would be a death.
    const isUrgent = streamCategory(stream) === 'lease';
    const append = (): Promise<AppendResult> => appendBatch(this.connection, this.options, stream, facts, expected);
    return this.queue.inOrder(stream, append, isUrgent);
  }

  async read(stream: string, options: ReadOptions = {}): Promise<ReadPage> {
    this.checkOpen();
    checkRead(stream, options);
    options.signal?.throwIfAborted();
    return this.reader.page(stream, options);
  }

  subscribe(source: StreamSource | StoreSource, options: SubscribeOptions = {}): AsyncIterable<FactBatch> {
    this.checkOpen();
    checkSubscribe(source, options, (text) => positionOf(text) !== undefined);
    const signals = [this.closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    return subscription(signals, (signal) =>
      'stream' in source
        ? follow(this.watch, source.stream, streamBatches(this.reader, this.watch, source, options), signal)
        : follow(this.watch, undefined, storeBatches(this.reader, this.watch, source, options), signal),
    );
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.checkOpen();
    checkTruncate(stream, before);
    checkStream(stream);
    await truncate(this.connection, this.reader, stream, before, this.options.timeoutMs);
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    this.watch.close();
    await this.onClose();
  }

  private checkOpen(): void {
    if (this.closing.signal.aborted) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

/** Some names belong to the server, some to the artifacts. */
function checkStream(stream: string): void {
  if (stream.startsWith('$')) throw invalidInput('stream', 'must not begin with "$"');
  if (isArtifactStream(stream)) throw invalidInput('stream', 'must not be one of an artifact');
}
