import { PerdureError, type AppendResult, type ExpectedRevision, type NewFact } from '@perdure/plugin-api';
import type { Connection } from '../client/connection.js';
import type { Failure } from '../client/failure.js';
import { eventOf } from '../wire/fact-event.js';
import { textOfPosition } from '../wire/position.js';
import { appendEvents } from './append-events.js';

export interface AppendLimits {
  readonly timeoutMs: number;
  /** Bytes of types, payloads and metadata of one batch. */
  readonly maxAppendBytes: number;
}

/** Stores a batch at its place; what is not known to have failed is `ambiguous`. */
export async function appendBatch(
  connection: Connection,
  { timeoutMs, maxAppendBytes }: AppendLimits,
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
): Promise<AppendResult> {
  const events = facts.map(eventOf);
  const bytes = events.reduce(
    (sum, { type, data, metadata }) => sum + Buffer.byteLength(type) + data.length + metadata.length,
    0,
  );
  if (bytes > maxAppendBytes) return { status: 'too-large', bytes, limit: maxAppendBytes };
  const revision = (expected === 'none' ? -1 : expected) + facts.length;
  const outcome = await appendEvents(connection, stream, events, { expected, timeoutMs, again: ['not-now'] });
  if (outcome.kind === 'failed') return outcomeOf(outcome.failure, stream, bytes, outcome.error);
  try {
    const position = outcome.appended.position ?? (await positionAt(connection, stream, revision, timeoutMs));
    return { status: 'stored', revision, position: textOfPosition(position) };
  } catch (error) {
    return { status: 'ambiguous', cause: error };
  }
}

/** Some servers do not tell where a batch is that was there already. */
async function positionAt(connection: Connection, stream: string, revision: number, timeoutMs: number) {
  const options = { from: revision, direction: 'forwards', limit: 1, timeoutMs } as const;
  const [event] = (await connection.readStream(stream, options))?.events ?? [];
  if (event?.revision !== revision) throw new Error('the stored batch could not be read');
  return event.position;
}

function outcomeOf(failure: Failure, stream: string, bytes: number, cause: unknown): AppendResult {
  switch (failure.kind) {
    case 'conflict':
      return { status: 'conflict', actual: failure.actual };
    case 'too-large':
      return { status: 'too-large', bytes, limit: Number.isNaN(failure.limit) ? bytes - 1 : failure.limit };
    case 'ambiguous':
      return { status: 'ambiguous', cause };
    case 'deleted':
      throw unavailable(`the stream "${stream}" was deleted for ever`, cause);
    case 'missing':
      throw unavailable(`the stream "${stream}" is missing`, cause);
    case 'not-now':
    case 'fatal':
      throw unavailable(failure.reason, cause);
  }
}

export function unavailable(reason: string, cause: unknown): PerdureError {
  return new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason }, { cause });
}
