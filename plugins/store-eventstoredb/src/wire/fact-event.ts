import type { RecordedFact } from '@perdure/events';
import type { NewFact } from '@perdure/plugin-api';
import type { NewEvent, StoredEvent } from '../client/connection.js';
import { textOfPosition } from './position.js';

/**
 * The first byte of an event's metadata. No JSON text begins with one of them: a client that parses what it can leaves
 * the metadata as they are, and events of others are told apart.
 */
const FACT = 0x01;
const DETAIL = 0x02;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** An event with exactly the bytes of the fact; the client sends binary events unchanged. */
export function eventOf({ id, type, payload, metadata, detail }: NewFact): NewEvent {
  const text = new TextEncoder().encode(metadata);
  const marked = new Uint8Array(text.length + 1);
  marked[0] = detail === true ? DETAIL : FACT;
  marked.set(text, 1);
  return { id, type, data: new TextEncoder().encode(payload), metadata: marked };
}

export interface ReadFact {
  readonly fact: RecordedFact;
  readonly isDetail: boolean;
}

/** What was made of events that several followers are given. */
const shared = new WeakMap<StoredEvent, ReadFact>();

/** The same as `factOf`, made once however many ask for it. */
export function sharedFactOf(event: StoredEvent): ReadFact | undefined {
  const known = shared.get(event);
  if (known !== undefined) return known;
  const found = factOf(event);
  if (found !== undefined) shared.set(event, found);
  return found;
}

/** `undefined` when the event is not a fact of this store. */
export function factOf({ stream, revision, position, id, type, data, metadata }: StoredEvent): ReadFact | undefined {
  const [mark] = metadata;
  if (mark !== FACT && mark !== DETAIL) return undefined;
  const fact = {
    stream,
    revision,
    position: textOfPosition(position),
    id,
    type,
    payload: decoder.decode(data),
    metadata: decoder.decode(metadata.subarray(1)),
  };
  return { fact, isDetail: mark === DETAIL };
}
