import type { Bell } from '../streams/bell.js';
import type { StoredEvent } from '../streams/stored-event.js';
import { passes, type EventFilter } from './event-filter.js';
import type { Feed } from './feed.js';

export interface FollowOptions {
  readonly filter?: EventFilter;
  /** With a filter: a checkpoint comes after so many events that were looked at. */
  readonly checkpointEvery: number;
  /** Where the follower begins, for a checkpoint before it has looked at anything. */
  readonly begin: number;
}

export type Followed =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** Nothing before this position passes the filter and was not given. */
  | { readonly kind: 'checkpoint'; readonly position: number }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'over' };

/** A live follower that is further behind is catching up again, and is told when it has. */
const LIVE_BUFFER = 32;

/** What a subscriber is sent: the past, that it has caught up, and what comes then. */
export async function* follow(
  feed: Feed,
  published: Bell,
  { filter, checkpointEvery, begin }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  let isLive = false;
  let position = begin;
  let considered = 0;
  while (!signal.aborted) {
    if (isLive && feed.backlog() > LIVE_BUFFER) {
      isLive = false;
      if (filter !== undefined) yield { kind: 'checkpoint', position };
    }
    for (let event = feed.next(); event !== undefined; event = feed.next()) {
      ({ position } = event);
      if (filter === undefined || passes(filter, event)) yield { kind: 'event', event };
      considered += 1;
      if (filter === undefined || considered < checkpointEvery) continue;
      considered = 0;
      yield { kind: 'checkpoint', position };
    }
    if (feed.isOver()) return yield { kind: 'over' };
    if (!isLive) {
      isLive = true;
      if (filter !== undefined) yield { kind: 'checkpoint', position };
      yield { kind: 'caught-up' };
    }
    // What was published while the follower was busy is there already.
    if (feed.backlog() <= 0) await published.heard(signal);
  }
}
