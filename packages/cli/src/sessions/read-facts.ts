import {
  claimedHashes,
  readMetadata,
  sessionStream,
  type JsonValue,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';

export interface FactRange {
  /** The first revision. */
  readonly from: number;
  /** The last revision; the present end when absent. */
  readonly until?: number;
}

/** The stored facts of a session in their order, some at a time. */
export async function* readFacts(store: EventStore, key: SessionKey, range: FactRange): AsyncGenerator<RecordedFact> {
  let from: number | undefined = range.from;
  while (from !== undefined) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(sessionStream(key), { from });
    for (const fact of page.facts) {
      if (range.until !== undefined && fact.revision > range.until) return;
      yield fact;
    }
    from = page.next;
  }
}

/** The same, and then what comes, until the signal aborts. */
export async function* followFacts(
  store: EventStore,
  key: SessionKey,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<RecordedFact> {
  const source = { stream: sessionStream(key), ...(from > 0 ? { after: from - 1 } : {}) };
  for await (const { facts } of store.subscribe(source, { signal })) yield* facts;
}

/** A fact as it is shown: parsed, with its hash. */
export interface ShownFact {
  readonly revision: number;
  readonly type: string;
  /** Epoch milliseconds; `null` when the metadata cannot be read. */
  readonly time: number | null;
  readonly hash: string | null;
  readonly payload: JsonValue;
}

export function showFact({ revision, type, payload, metadata }: RecordedFact): ShownFact {
  const hash = claimedHashes(metadata)?.hash ?? null;
  return { revision, type, time: hash === null ? null : timeOf(metadata), hash, payload: parsed(payload) };
}

function timeOf(metadata: string): number | null {
  try {
    return readMetadata(metadata).time;
  } catch {
    // A fact of another build or a damaged one is shown as far as it can be read; `verify` says what is wrong with it.
    return null;
  }
}

function parsed(payload: string): JsonValue {
  try {
    return JSON.parse(payload) as JsonValue;
  } catch {
    return payload;
  }
}
