import { setTimeout as delay } from 'node:timers/promises';
import type { ExpectedRevision } from '@perdure/plugin-api';
import type { Appended, Connection, NewEvent } from '../client/connection.js';
import { failureOf, type Failure } from '../client/failure.js';

/** How often a batch is tried again that certainly has not been stored, and how long it waits at first. */
const TRIES = 4;
const FIRST_WAIT_MS = 25;

export type EventsOutcome =
  | { readonly kind: 'stored'; readonly appended: Appended }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly error: unknown };

/** Appends a batch at its place, and tries again for a while after failures of the kinds `again`. */
export async function appendEvents(
  connection: Connection,
  stream: string,
  events: readonly NewEvent[],
  options: {
    readonly expected: ExpectedRevision;
    readonly timeoutMs: number;
    readonly again: readonly Failure['kind'][];
  },
): Promise<EventsOutcome> {
  const { again, ...place } = options;
  for (let tried = 1; ; tried += 1) {
    try {
      return { kind: 'stored', appended: await connection.append(stream, events, place) };
    } catch (error) {
      const failure = failureOf(error);
      if (!again.includes(failure.kind) || tried === TRIES) return { kind: 'failed', failure, error };
      await delay(FIRST_WAIT_MS * 2 ** (tried - 1));
    }
  }
}
