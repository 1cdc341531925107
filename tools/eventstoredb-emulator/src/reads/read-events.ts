import { firstVisibleRevision, isExpired } from '../streams/retention.js';
import type { StoredEvent } from '../streams/stored-event.js';
import type { StreamIndex } from '../streams/stream-index.js';
import { passes, type EventFilter } from './event-filter.js';

export type Direction = 'forwards' | 'backwards';

/** Where reading begins: an end of the stream or log, or a place in it. */
export type ReadFrom = number | 'start' | 'end';

/** The visible events of a stream from a revision on, that one with it. */
export function* readStream(
  index: StreamIndex,
  stream: string,
  from: ReadFrom,
  direction: Direction,
): Generator<StoredEvent> {
  const head = index.headOf(stream, 'published');
  const metadata = index.metadataOf(stream, 'published');
  const first = firstVisibleRevision(metadata, head);
  const now = Date.now();
  const step = direction === 'forwards' ? 1 : -1;
  let revision = revisionOf(from, direction, head);
  if (direction === 'forwards') revision = Math.max(revision, first);
  for (; revision >= first && revision <= head; revision += step) {
    const event = index.eventAt(stream, revision, 'published');
    if (event !== undefined && !isExpired(metadata, event.created, now)) yield event;
  }
}

function revisionOf(from: ReadFrom, direction: Direction, head: number): number {
  if (from === 'start') return 0;
  // Forwards from the end there is nothing; backwards the last event is the first one.
  if (from === 'end') return direction === 'forwards' ? head + 1 : head;
  return direction === 'forwards' ? from : Math.min(from, head);
}

/** All events of the log: forwards from a position on, that one with it; backwards the ones before it. */
export function* readAll(
  index: StreamIndex,
  from: ReadFrom,
  direction: Direction,
  filter?: EventFilter,
): Generator<StoredEvent> {
  const end = index.count;
  const start = from === 'start' ? 0 : from === 'end' ? end : index.indexFrom(from);
  const step = direction === 'forwards' ? 1 : -1;
  for (let at = direction === 'forwards' ? start : start - 1; at >= 0 && at < end; at += step) {
    const event = index.at(at);
    if (event !== undefined && (filter === undefined || passes(filter, event))) yield event;
  }
}
