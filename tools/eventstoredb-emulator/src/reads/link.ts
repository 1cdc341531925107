import { firstVisibleRevision } from '../streams/retention.js';
import type { StoredEvent } from '../streams/stored-event.js';
import type { StreamIndex } from '../streams/stream-index.js';

const LINK_EVENT = '$>';

/** An event as a reader gets it; a link whose target is gone has no event. */
export interface ResolvedEvent {
  readonly event: StoredEvent | undefined;
  readonly link?: StoredEvent;
}

/** Follows a link, whose data is the revision and the stream of its target: `3@orders-7`. */
export function resolveLink(index: StreamIndex, event: StoredEvent): ResolvedEvent {
  if (event.type !== LINK_EVENT) return { event };
  const [, revision, stream = ''] = /^(\d+)@(.+)$/s.exec(Buffer.from(event.data).toString('utf8')) ?? [];
  if (revision === undefined) return { event: undefined, link: event };
  const first = firstVisibleRevision(index.metadataOf(stream, 'published'), index.headOf(stream, 'published'));
  const target = Number(revision) < first ? undefined : index.eventAt(stream, Number(revision), 'published');
  return { event: target, link: event };
}
