import type { Limits } from './connection.js';
import { TimeOut, within } from './timer.js';

/** A read of the client: it stays open on the server until it is cancelled. */
export interface StreamingRead<Resolved> extends AsyncIterable<Resolved> {
  cancel(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface Sized {
  readonly data: unknown;
  readonly metadata?: unknown;
}

export interface Collected<Event> {
  readonly events: readonly Event[];
  readonly isCut: boolean;
}

/** Large facts must not fill the memory: a page ends behind so many bytes. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Takes the events of a read that has a limit, and leaves nothing open. With `keepsPart`, a server that is slow gives a
 * short page when the time is over: what came counts, so that the next read is further on.
 */
export async function collect<Resolved, Event extends Sized>(
  read: StreamingRead<Resolved>,
  limits: Limits,
  eventOf: (resolved: Resolved) => Event | undefined,
  keepsPart = false,
): Promise<Collected<Event>> {
  // An error that comes when nobody listens any more would end the process.
  read.on('error', () => undefined);
  const events: Event[] = [];
  try {
    return { events, isCut: await within(limits, take(read, eventOf, events)) };
  } catch (error) {
    if (keepsPart && error instanceof TimeOut && events.length > 0) return { events: [...events], isCut: true };
    throw error;
  } finally {
    // It waits for the connection, which may never come.
    void read.cancel().catch(() => undefined);
  }
}

/** Whether the page was cut because its bytes are many. */
async function take<Resolved, Event extends Sized>(
  read: AsyncIterable<Resolved>,
  eventOf: (resolved: Resolved) => Event | undefined,
  events: Event[],
): Promise<boolean> {
  let bytes = 0;
  for await (const resolved of read) {
    const event = eventOf(resolved);
    if (event === undefined) continue;
    events.push(event);
    bytes += sizeOf(event.data) + sizeOf(event.metadata);
    if (bytes >= PAGE_BYTES) return true;
  }
  return false;
}

function sizeOf(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 0;
}
