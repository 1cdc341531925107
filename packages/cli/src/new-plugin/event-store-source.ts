/** The text of `src/event-store.ts` of a new event store. */
export const EVENT_STORE_SOURCE = String.raw`import { streamCategory, type RecordedFact } from '@perdure/events';
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

const PAGE = 1_000;
const POSITION = /^\d{16}$/;
const POSITION_WIDTH = 16;

/** One stream: rows[0] has the revision 'cut'; what was before it is given up. */
interface Stream {
  cut: number;
  rows: { readonly fact: RecordedFact; readonly isDetail: boolean }[];
}

/**
 * A whole event store in memory. Put your own storage in the place of 'streams' and 'log'. What must stay true:
 * a batch is stored as a whole or not at all, at exactly the expected revision, and nobody sees it before it is stored.
 */
export class OwnEventStore implements EventStore {
  readonly name = 'own';
  readonly capabilities = { shared: false, durable: false };
  readonly limits = { maxEventBytes: 1024 * 1024, maxBatch: 256 };

  private readonly streams = new Map<string, Stream>();
  /** All facts in the order of their positions. Truncated ones stay in it, which the port allows. */
  private readonly log: RecordedFact[] = [];
  private readonly followers = new Set<Follower>();
  private isClosed = false;

  async append(
    stream: string,
    facts: readonly NewFact[],
    { expected }: { readonly expected: ExpectedRevision },
  ): Promise<AppendResult> {
    this.checkOpen();
    checkAppend(stream, facts, expected, this.limits);
    const limit = this.limits.maxEventBytes;
    const bytes = tooLarge(facts, limit);
    if (bytes !== undefined) return { status: 'too-large', bytes, limit };

    const target = this.streams.get(stream) ?? { cut: 0, rows: [] };
    const actual = headOf(target);
    if (actual !== expected) {
      // The sender could not know that the batch was stored and sent it again.
      const last = lastOfRepeat(target, facts, expected);
      if (last !== undefined) return { status: 'stored', revision: last.revision, position: last.position };
      return { status: 'conflict', actual };
    }
    let revision = target.cut + target.rows.length;
    let position = '';
    for (const { id, type, payload, metadata, detail } of facts) {
      position = String(this.log.length).padStart(POSITION_WIDTH, '0');
      const fact = { stream, revision, position, id, type, payload, metadata };
      target.rows.push({ fact, isDetail: detail === true });
      this.log.push(fact);
      revision += 1;
    }
    this.streams.set(stream, target);
    for (const follower of this.followers) follower.wake();
    return { status: 'stored', revision: revision - 1, position };
  }

  async read(stream: string, options: ReadOptions = {}): Promise<ReadPage> {
    this.checkOpen();
    checkRead(stream, options);
    options.signal?.throwIfAborted();
    return pageOf(this.streams.get(stream) ?? { cut: 0, rows: [] }, options);
  }

  subscribe(source: StreamSource | StoreSource, options: SubscribeOptions = {}): AsyncIterable<FactBatch> {
    this.checkOpen();
    checkSubscribe(source, options, (text) => POSITION.test(text));
    const nextBatch = 'stream' in source ? this.streamReader(source, options) : this.storeReader(source, options);
    return { [Symbol.asyncIterator]: () => this.follow(nextBatch, options.signal) };
  }

  async truncate(stream: string, before: number): Promise<void> {
    this.checkOpen();
    checkTruncate(stream, before);
    const target = this.streams.get(stream);
    if (target === undefined) return;
    target.cut += target.rows.splice(0, Math.max(0, before - target.cut)).length;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const follower of this.followers) follower.end();
  }

  private follow(nextBatch: () => FactBatch, signal: AbortSignal | undefined): AsyncIterator<FactBatch> {
    const follower = new Follower(nextBatch, () => {
      this.followers.delete(follower);
      signal?.removeEventListener('abort', follower.end);
    });
    this.followers.add(follower);
    signal?.addEventListener('abort', follower.end);
    if (this.isClosed || signal?.aborted === true) follower.end();
    return follower;
  }

  private streamReader({ stream, after = -1 }: StreamSource, { types }: SubscribeOptions): () => FactBatch {
    let from = after + 1;
    return () => {
      const { facts, next } = pageOf(this.streams.get(stream) ?? { cut: 0, rows: [] }, { from });
      from = (facts.at(-1)?.revision ?? from - 1) + 1;
      return { facts: facts.filter(({ type }) => types?.includes(type) ?? true), caughtUp: next === undefined };
    };
  }

  private storeReader({ after }: StoreSource, { types, categories }: SubscribeOptions): () => FactBatch {
    let from = after === undefined ? 0 : Number(after) + 1;
    return () => {
      const facts = this.log.slice(from, from + PAGE);
      from += facts.length;
      const position = facts.at(-1)?.position ?? after;
      after = position;
      const isWanted = ({ type, stream }: RecordedFact): boolean =>
        (types?.includes(type) ?? true) && (categories?.includes(streamCategory(stream)) ?? true);
      const batch = { facts: facts.filter(isWanted), caughtUp: from >= this.log.length };
      return position === undefined ? batch : { ...batch, position };
    };
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

/** One subscription: hands over batches, waits when there are none, and goes on until it is ended. */
class Follower implements AsyncIterator<FactBatch> {
  private isPast = true;
  private isOver = false;
  private wakeUp: () => void = () => undefined;

  constructor(
    private readonly nextBatch: () => FactBatch,
    private readonly leave: () => void,
  ) {}

  async next(): Promise<IteratorResult<FactBatch>> {
    while (!this.isOver) {
      const batch = this.nextBatch();
      if (batch.facts.length > 0 || this.isPast) {
        this.isPast &&= !batch.caughtUp;
        return { done: false, value: batch };
      }
      // Nothing can be appended between the look and the wait: there is no await in between.
      if (batch.caughtUp) await new Promise<void>((resolve) => (this.wakeUp = resolve));
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<FactBatch>> {
    this.end();
    return { done: true, value: undefined };
  }

  wake(): void {
    this.wakeUp();
  }

  readonly end = (): void => {
    this.isOver = true;
    this.leave();
    this.wakeUp();
  };
}

function headOf({ cut, rows }: Stream): ExpectedRevision {
  return cut + rows.length === 0 ? 'none' : cut + rows.length - 1;
}

/** The last fact of a batch that is stored at that place already. */
function lastOfRepeat(stream: Stream, facts: readonly NewFact[], expected: ExpectedRevision): RecordedFact | undefined {
  const first = (expected === 'none' ? 0 : expected + 1) - stream.cut;
  if (first < 0) return undefined;
  const there = stream.rows.slice(first, first + facts.length);
  const isSame = there.length === facts.length && there.every(({ fact }, index) => fact.id === facts[index]?.id);
  return isSame ? there.at(-1)?.fact : undefined;
}

function pageOf({ cut, rows }: Stream, { from, direction, limit = PAGE, omitDetail }: ReadOptions): ReadPage {
  const end = cut + rows.length;
  const step = direction === 'backwards' ? -1 : 1;
  const facts: RecordedFact[] = [];
  let revision = step === 1 ? Math.max(from ?? 0, cut) : Math.min(from ?? end, end - 1);
  for (; revision >= cut && revision < end && facts.length < Math.min(limit, PAGE); revision += step) {
    const row = rows[revision - cut];
    if (row !== undefined && !(omitDetail === true && row.isDetail)) facts.push(row.fact);
  }
  const page = { facts, head: headOf({ cut, rows }) };
  return revision >= cut && revision < end ? { ...page, next: revision } : page;
}
`;
