import { setTimeout as delay } from 'node:timers/promises';
import { streamCategory, type RecordedFact } from '@perdure/events';
import {
  isPerdureError,
  type FactBatch,
  type StoreSource,
  type StreamSource,
  type SubscribeOptions,
} from '@perdure/plugin-api';
import type { Position, StoredEvent } from '../client/connection.js';
import { isFull } from '../read/log-pages.js';
import { factIn, type Reader } from '../read/reader.js';
import { sharedFactOf } from '../wire/fact-event.js';
import { positionOf, textOfPosition } from '../wire/position.js';
import type { Watch } from './watch.js';

/** Milliseconds before a follower reads again from a server that is away. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/** The next batch of a follower; it remembers where the last one ended. */
type NextBatch = (signal: AbortSignal) => Promise<FactBatch>;

/**
 * The past by pages, and then a batch whenever there is news: from what the watch remembers when that is everything
 * behind the last batch, else by reading.
 */
export async function* follow(
  watch: Watch,
  stream: string | undefined,
  nextBatch: NextBatch,
  signal: AbortSignal,
): AsyncGenerator<FactBatch, undefined> {
  const listener = await watch.listen(stream, signal);
  try {
    let wasCaughtUp = false;
    while (!signal.aborted) {
      const batch = await untilThere(nextBatch, signal);
      if (batch === undefined || signal.aborted) return undefined;
      if (batch.facts.length > 0 || !wasCaughtUp) yield batch;
      wasCaughtUp ||= batch.caughtUp;
      if (batch.caughtUp) await listener.next();
    }
  } catch (error) {
    // Whoever left is not told that the read was given up.
    if (!signal.aborted) throw error;
  } finally {
    listener.leave();
  }
  return undefined;
}

/** The next batch, however long the server is away; `undefined` when the follower has left. */
async function untilThere(nextBatch: NextBatch, signal: AbortSignal): Promise<FactBatch | undefined> {
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await nextBatch(signal);
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE')) throw error;
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

export function streamBatches(
  reader: Reader,
  { window }: Watch,
  { stream, after }: StreamSource,
  { types }: SubscribeOptions,
): NextBatch {
  let from = after === undefined ? 0 : after + 1;
  let isPast = true;
  return async (signal) => {
    const recent = isPast ? undefined : window.ofStream(stream, from);
    const { events, isLast } =
      recent === undefined ? await reader.forwards(stream, from, signal) : { events: recent, isLast: true };
    isPast = !isLast;
    from = (events.at(-1)?.revision ?? from - 1) + 1;
    const facts = events.map((event) => factIn(stream, event).fact);
    return { facts: facts.filter(isOneOf(types)), caughtUp: isLast };
  };
}

export function storeBatches(
  reader: Reader,
  { window }: Watch,
  { after }: StoreSource,
  { types, categories }: SubscribeOptions,
): NextBatch {
  let position: Position | undefined = after === undefined ? undefined : positionOf(after);
  let isPast = true;
  const isWanted = ({ stream }: StoredEvent): boolean =>
    !stream.startsWith('$') && (categories?.includes(streamCategory(stream)) ?? true);
  return async (signal) => {
    const recent = isPast ? undefined : window.after(position);
    const page = recent === undefined ? await reader.log.behind(position, signal) : { events: recent, isCut: false };
    const caughtUp = recent !== undefined || !isFull(page);
    isPast = !caughtUp;
    position = page.events.at(-1)?.position ?? position;
    const facts = page.events.filter(isWanted).flatMap((event) => sharedFactOf(event)?.fact ?? []);
    return {
      facts: facts.filter(isOneOf(types)),
      caughtUp,
      ...(position !== undefined && { position: textOfPosition(position) }),
    };
  };
}

function isOneOf(types: readonly string[] | undefined): (fact: RecordedFact) => boolean {
  return ({ type }) => types?.includes(type) ?? true;
}
