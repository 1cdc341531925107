import type { EventSource } from '../live/event-reader.js';
import type { LoadedSession } from './loaded-session.js';
import { readCommitted } from './read-committed.js';

/** What readers of events need of a session. */
export function eventSource({ work, index }: LoadedSession): EventSource {
  const { journal, feed, store, key } = work;
  return {
    sessionId: key.id,
    feed,
    lookup: index,
    head: () => journal.head,
    state: () => journal.state,
    read: (after) => readCommitted(store, journal, after),
  };
}
