import { firstVisibleRevision, isExpired } from '../streams/retention.js';
import type { StoredEvent } from '../streams/stored-event.js';
import type { StreamIndex } from '../streams/stream-index.js';
import type { ReadFrom } from './read-events.js';

/** What a subscriber has not seen yet, one event after the other. */
export interface Feed {
  /** The next event; `undefined` when there is none now. */
  next(): StoredEvent | undefined;
  /** How many events of the source were stored since the last one given. */
  backlog(): number;
  /** The stream was ended for ever. */
  isOver(): boolean;
}

/** All events behind a position. */
export function allFeed(index: StreamIndex, after: ReadFrom): Feed {
  let at = after === 'start' ? 0 : after === 'end' ? index.count : index.indexFrom(after + 1);
  return {
    next() {
      const event = index.at(at);
      if (event !== undefined) at += 1;
      return event;
    },
    backlog: () => index.count - at,
    isOver: () => false,
  };
}

/** The visible events of a stream behind a revision. */
export function streamFeed(index: StreamIndex, stream: string, after: ReadFrom): Feed {
  const head = (): number => index.headOf(stream, 'published');
  let revision = after === 'start' ? 0 : after === 'end' ? head() + 1 : after + 1;
  return {
    next() {
      for (;;) {
        const metadata = index.metadataOf(stream, 'published');
        revision = Math.max(revision, firstVisibleRevision(metadata, head()));
        const event = index.eventAt(stream, revision, 'published');
        if (event === undefined) return undefined;
        revision += 1;
        if (!isExpired(metadata, event.created, Date.now())) return event;
      }
    },
    backlog: () => head() + 1 - revision,
    isOver: () => index.isTombstoned(stream, 'published'),
  };
}
