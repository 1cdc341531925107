import {
  claimedHashes,
  coreDefinition,
  isCoreType,
  sessionStream,
  type FactText,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import { PerdureError, type EventStore, type NewFact } from '@perdure/plugin-api';
import { ChainCheck } from '../session/chain-reader.js';
import { checkOrigin, forkOrigin } from '../session/fork-origin.js';

/** A fact of an exported stream, to the letter. */
export interface ExportedFact extends FactText {
  readonly revision: number;
}

/** An exported stream: its facts may be read more than once. */
export interface ExportedStream {
  /** Where it ends: what is shorter was cut. */
  readonly revision: number;
  readonly hash: string;
  readonly facts: () => AsyncIterable<ExportedFact>;
}

export interface RestoredStream {
  readonly stream: string;
  /** Facts of the stream, and how many of them were not there before. */
  readonly facts: number;
  readonly added: number;
  readonly revision: number;
  readonly hash: string;
}

/** Bytes that one append carries, unless a fact alone has more. */
const BATCH_BYTES = 1_024 * 1_024;
/** Milliseconds between two tries of an append whose outcome nobody knows. */
const PAUSE_MS = 50;

/**
 * Puts an exported stream into a store, byte for byte. All of it is checked against its chain before the first fact is
 * stored. A stream that is a beginning of it goes on, as one whose restoring broke off; any other is
 * PERDURE_SESSION_EXISTS. Throws PERDURE_CHAIN_BROKEN, PERDURE_ANCHOR_MISMATCH when the end is missing, and
 * PERDURE_FORK_ORIGIN_MISSING for a fork whose origin must be restored before it.
 */
export async function restoreStream(
  store: EventStore,
  key: SessionKey,
  exported: ExportedStream,
): Promise<RestoredStream> {
  const stream = sessionStream(key);
  const [last] = (await store.read(stream, { direction: 'backwards', limit: 1 })).facts;
  const head = last?.revision ?? -1;
  const first = await check(stream, key, exported, last);
  const origin = first && forkOrigin(first);
  if (first !== undefined && origin !== undefined) await checkOrigin(store, first, origin);
  const chain = new ChainCheck(stream, { from: 0 });
  let batch: NewFact[] = [];
  let bytes = 0;
  let expected = head;
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await append(store, stream, key, batch, expected);
    expected += batch.length;
    batch = [];
    bytes = 0;
  };
  for await (const fact of exported.facts()) {
    chain.next(recorded(stream, fact));
    if (fact.revision <= head) continue;
    const size = fact.payload.length + fact.metadata.length;
    if (batch.length >= store.limits.maxBatch || (batch.length > 0 && bytes + size > BATCH_BYTES)) await flush();
    batch.push(newFact(fact));
    bytes += size;
  }
  await flush();
  const { revision, hash } = exported;
  return { stream, facts: revision + 1, added: revision - head, revision, hash };
}

/** Reads all of it once: whole, linked, ended where it says, and behind what is there. Returns its first fact. */
async function check(
  stream: string,
  key: SessionKey,
  { revision, hash, facts }: ExportedStream,
  last: RecordedFact | undefined,
): Promise<RecordedFact | undefined> {
  const chain = new ChainCheck(stream, { from: 0 });
  let isBehind = last === undefined;
  let first: RecordedFact | undefined;
  for await (const fact of facts()) {
    const given = recorded(stream, fact);
    first ??= given;
    chain.next(given);
    if (fact.revision === last?.revision) isBehind = isSame(fact, last);
  }
  const { end } = chain;
  if (end.revision !== revision || end.hash !== hash) {
    throw new PerdureError('PERDURE_ANCHOR_MISMATCH', { stream, revision });
  }
  if (!isBehind) throw new PerdureError('PERDURE_SESSION_EXISTS', { session: key.id });
  return first;
}

/** The hash of a fact stands for all before it. */
function isSame(fact: ExportedFact, last: RecordedFact): boolean {
  return claimedHashes(fact.metadata)?.hash === claimedHashes(last.metadata)?.hash;
}

async function append(
  store: EventStore,
  stream: string,
  key: SessionKey,
  batch: readonly NewFact[],
  head: number,
): Promise<void> {
  for (;;) {
    const outcome = await store.append(stream, batch, { expected: head < 0 ? 'none' : head });
    if (outcome.status === 'stored') return;
    if (outcome.status === 'conflict') throw new PerdureError('PERDURE_SESSION_EXISTS', { session: key.id });
    if (outcome.status === 'too-large') {
      throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: outcome.bytes, limit: outcome.limit });
    }
    await new Promise((resolve) => {
      setTimeout(resolve, PAUSE_MS);
    });
  }
}

function recorded(stream: string, fact: ExportedFact): RecordedFact {
  return { ...fact, stream, position: '' };
}

/** Which facts a store keeps apart is no part of their bytes: their types say it. */
function newFact({ id, type, payload, metadata }: ExportedFact): NewFact {
  const isDetail = isCoreType(type) && coreDefinition(type).isDetail?.(JSON.parse(payload)) === true;
  return { id, type, payload, metadata, ...(isDetail ? { detail: true } : {}) };
}
