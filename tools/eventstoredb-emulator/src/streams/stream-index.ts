import { decodeTransaction, type Transaction, type Write } from '../log/transaction.js';
import { isSoftDeleted, metadataStreamOf, parseMetadata, type StreamMetadata } from './stream-metadata.js';
import { TOMBSTONE_EVENT, type StoredEvent } from './stored-event.js';
import { Bell } from './bell.js';

/** A stream as it is in memory. An event's place in `events` is its revision. */
interface StreamEntry {
  readonly events: StoredEvent[];
  /** So many of them are published. */
  published: number;
  tombstone: StoredEvent | undefined;
}

/** Who asks: a decision about a write knows what is on its way to the disk, a reader what has arrived there. */
export type Sight = 'staged' | 'published';

/** All events, by stream and in the order of the log. */
export class StreamIndex {
  /** Rings when events were published. */
  readonly published = new Bell();
  private readonly all: StoredEvent[] = [];
  private publishedCount = 0;
  private readonly streams = new Map<string, StreamEntry>();
  private readonly parsed = new WeakMap<StoredEvent, StreamMetadata>();

  /** Takes over an entry of a log that was opened. */
  load(offset: number, bytes: Buffer): void {
    const transaction = decodeTransaction(bytes);
    this.stage(offset, transaction);
    this.publishTo(this.all.length);
  }

  /** Adds events that readers do not see yet; the result is given to `publishTo` when they may. */
  stage(offset: number, { created, writes }: Transaction): number {
    let position = offset;
    for (const write of writes) {
      for (const event of eventsOf(write, created)) {
        const stored = { ...event, position };
        // Bytes of the entry that belong to the event keep positions apart, and inside of the entry.
        position += 1 + event.data.length + event.metadata.length;
        this.add(stored);
      }
    }
    return this.all.length;
  }

  publishTo(count: number): void {
    for (; this.publishedCount < count; this.publishedCount += 1) {
      const event = this.all[this.publishedCount];
      if (event !== undefined) this.entryOf(event.stream).published += event.revision === 'tombstone' ? 0 : 1;
    }
    this.published.ring();
  }

  /** The last revision, or -1. */
  headOf(stream: string, sight: Sight): number {
    const entry = this.streams.get(stream);
    if (entry === undefined) return -1;
    return (sight === 'staged' ? entry.events.length : entry.published) - 1;
  }

  eventAt(stream: string, revision: number, sight: Sight): StoredEvent | undefined {
    return revision <= this.headOf(stream, sight) ? this.streams.get(stream)?.events[revision] : undefined;
  }

  isTombstoned(stream: string, sight: Sight): boolean {
    const tombstone = this.streams.get(stream)?.tombstone;
    if (tombstone === undefined) return false;
    return sight === 'staged' || tombstone.position <= this.lastPosition();
  }

  metadataOf(stream: string, sight: Sight): StreamMetadata {
    const name = metadataStreamOf(stream);
    const event = this.eventAt(name, this.headOf(name, sight), sight);
    if (event === undefined) return {};
    const metadata = this.parsed.get(event) ?? parseMetadata(event.data);
    this.parsed.set(event, metadata);
    return metadata;
  }

  /** Whether a reader finds the stream: it has events, and was not deleted. */
  exists(stream: string): boolean {
    return this.headOf(stream, 'published') >= 0 && !isSoftDeleted(this.metadataOf(stream, 'published'));
  }

  /** How many events are published in the whole log. */
  get count(): number {
    return this.publishedCount;
  }

  /** The published event with this number in the log. */
  at(index: number): StoredEvent | undefined {
    return index < this.publishedCount ? this.all[index] : undefined;
  }

  /** The number of the first published event at or behind a position. */
  indexFrom(position: number): number {
    let low = 0;
    let high = this.publishedCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.all[middle]?.position ?? Infinity) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private lastPosition(): number {
    return this.all[this.publishedCount - 1]?.position ?? -1;
  }

  private add(event: StoredEvent): void {
    const entry = this.entryOf(event.stream);
    if (event.revision === 'tombstone') entry.tombstone = event;
    else entry.events.push(event);
    this.all.push(event);
  }

  private entryOf(stream: string): StreamEntry {
    const known = this.streams.get(stream);
    if (known !== undefined) return known;
    const entry = { events: [], published: 0, tombstone: undefined };
    this.streams.set(stream, entry);
    return entry;
  }
}

function eventsOf(write: Write, created: number): readonly Omit<StoredEvent, 'position'>[] {
  const { stream, from, events, isTombstone } = write;
  return events.map((event, index) => ({
    ...event,
    stream,
    revision: isTombstone === true ? ('tombstone' as const) : from + index,
    ...(isTombstone === true && { type: TOMBSTONE_EVENT }),
    created,
  }));
}
