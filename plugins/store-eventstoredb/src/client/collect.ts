import type { Limits } from './connection.js';
import { within } from './timer.js';

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

/** Takes the events of a read that has a limit, and leaves nothing open. */
export async function collect<Resolved, Event extends Sized>(
  read: StreamingRead<Resolved>,
  limits: Limits,
  eventOf: (resolved: Resolved) => Event | undefined,
): Promise<Collected<Event>> {
  // An error that comes when nobody listens any more would end the process.
  read.on('error', () => undefined);
  try {
    return await within(limits, take(read, eventOf));
  } finally {
    // It waits for the connection, which may never come.
    void read.cancel().catch(() => undefined);
  }
}

async function take<Resolved, Event extends Sized>(
  read: AsyncIterable<Resolved>,
  eventOf: (resolved: Resolved) => Event | undefined,
): Promise<Collected<Event>> {
  const events: Event[] = [];
  let bytes = 0;
  for await (const resolved of read) {
    const event = eventOf(resolved);
    if (event === undefined) continue;
    events.push(event);
    bytes += sizeOf(event.data) + sizeOf(event.metadata);
    if (bytes >= PAGE_BYTES) return { events, isCut: true };
  }
  return { events, isCut: false };
}

function sizeOf(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 0;
}
