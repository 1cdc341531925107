import type { Limits, StoredEvent } from './connection.js';
import type { ReadAnswer } from './read-answers.js';
import { TimeOut, within } from './timer.js';

/** A read of the client: when it is left before its end it stays open on the server until it is cancelled. */
export interface StreamingRead<Answer> extends AsyncIterable<Answer> {
  readonly readableEnded: boolean;
  cancel(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface Collected {
  readonly events: readonly StoredEvent[];
  readonly isCut: boolean;
  /** There is no such stream. */
  readonly isMissing: boolean;
}

/** Large facts must not fill the memory: a page ends behind so many bytes. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Milliseconds in which a read that nobody wants any more may end by itself. */
const LEAVE_MS = 1_000;

/**
 * Takes the events of a read that has a limit, and leaves nothing open. With `keepsPart`, a server that is slow gives a
 * short page when the time is over: what came counts, so that the next read is further on.
 */
export async function collect(read: StreamingRead<ReadAnswer>, limits: Limits, keepsPart = false): Promise<Collected> {
  // An error that comes when nobody listens any more would end the process.
  read.on('error', () => undefined);
  const events: StoredEvent[] = [];
  try {
    return { events, ...(await within(limits, take(read, events))) };
  } catch (error) {
    if (!keepsPart || !(error instanceof TimeOut) || events.length === 0) throw error;
    return { events: [...events], isCut: true, isMissing: false };
  } finally {
    leave(read, limits.signal?.aborted === true);
  }
}

/**
 * A call that is cancelled is reset, and servers end a connection on which calls are reset often: a read that is over
 * is not cancelled, and one whose reader left only when it does not end soon.
 */
function leave(read: StreamingRead<ReadAnswer>, isUnwanted: boolean): void {
  if (read.readableEnded) return;
  // It waits for the connection, which may never come.
  const cancel = (): void => void (read.readableEnded || read.cancel().catch(() => undefined));
  if (isUnwanted) setTimeout(cancel, LEAVE_MS).unref();
  else cancel();
}

async function take(
  read: AsyncIterable<ReadAnswer>,
  events: StoredEvent[],
): Promise<{ readonly isCut: boolean; readonly isMissing: boolean }> {
  let bytes = 0;
  let isMissing = false;
  for await (const answer of read) {
    if (answer === 'missing') isMissing = true;
    else {
      events.push(answer);
      bytes += answer.data.length + answer.metadata.length;
      // Its bytes are many.
      if (bytes >= PAGE_BYTES) return { isCut: true, isMissing };
    }
  }
  return { isCut: false, isMissing };
}
