import { PerdureError } from '@perdure/plugin-api';
import { unavailable } from '../append/append-batch.js';
import { appendEvents } from '../append/append-events.js';
import type { CallQueue } from '../append/call-queue.js';
import type { Connection, NewEvent, StoredEvent } from '../client/connection.js';
import type { Reader } from '../read/reader.js';
import { truncate } from '../truncate.js';
import { artifactEventOf, deletedEvent, type ArtifactEvent } from '../wire/artifact-event.js';

/** What comes last in an artifact's stream. */
export interface LastEvent {
  readonly revision: number;
  readonly event: ArtifactEvent;
}

/** The streams of artifacts, event by event. */
export class ArtifactLog {
  private readonly connection: Connection;
  private readonly reader: Reader;
  private readonly queue: CallQueue;
  private readonly timeoutMs: number;

  constructor(connection: Connection, reader: Reader, queue: CallQueue, timeoutMs: number) {
    this.connection = connection;
    this.reader = reader;
    this.queue = queue;
    this.timeoutMs = timeoutMs;
  }

  async last(stream: string): Promise<LastEvent | undefined> {
    const page = await this.reader.events(stream, { from: 'end', direction: 'backwards', limit: 1 });
    const [last] = page?.events ?? [];
    return last === undefined ? undefined : { revision: last.revision, event: eventIn(last) };
  }

  async page(stream: string, from: number, limit: number): Promise<readonly StoredEvent[]> {
    return (await this.reader.events(stream, { from, direction: 'forwards', limit }))?.events ?? [];
  }

  /** Whether the events are at this place now; they are not when others are. */
  async append(stream: string, revision: number, events: readonly NewEvent[]): Promise<boolean> {
    const outcome = await this.queue.limited(() =>
      appendEvents(this.connection, stream, events, {
        expected: revision === 0 ? 'none' : revision - 1,
        timeoutMs: this.timeoutMs,
        // The ids belong to the place: sending them again is always safe.
        again: ['not-now', 'ambiguous'],
      }),
    );
    if (outcome.kind === 'stored') return true;
    const { failure, error } = outcome;
    if (failure.kind === 'conflict') return false;
    throw unavailable('reason' in failure ? failure.reason : failure.kind, error);
  }

  /** Ends what is in a stream, so that nobody goes on with it, and then hides it. */
  async end(stream: string, revision: number): Promise<boolean> {
    const isEnded = await this.append(stream, revision, [deletedEvent(stream, revision)]);
    if (isEnded) await this.hide(stream, revision);
    return isEnded;
  }

  /** Hides what is before a revision. */
  hide(stream: string, revision: number): Promise<void> {
    return truncate(this.connection, this.reader, stream, revision, this.timeoutMs);
  }
}

export function eventIn(stored: StoredEvent): ArtifactEvent {
  const event = artifactEventOf(stored);
  if (event !== undefined) return event;
  const reason = `revision ${stored.revision} of "${stored.stream}" is not a part of an artifact`;
  throw new PerdureError('PERDURE_STORE_DAMAGED', { reason });
}
