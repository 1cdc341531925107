import {
  claimedHashes,
  FactRegistry,
  isFactIntact,
  sessionKeyOf,
  sessionStream,
  type PayloadOf,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import { PerdureError, type EventStore } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';

/** The place in another session that a fork goes on from. */
export interface ForkOrigin {
  readonly key: SessionKey;
  readonly revision: number;
}

/** What the first fact of a stream says that it goes on from; `undefined` for a session that is no fork. */
export function forkOrigin(first: RecordedFact, registry = new FactRegistry()): ForkOrigin | undefined {
  if (first.type !== 'SessionForked') return undefined;
  const key = sessionKeyOf(first.stream);
  const read = registry.read(first);
  if (read.kind !== 'known' || key === undefined) return undefined;
  const { from } = read.payload as PayloadOf<'SessionForked'>;
  return { key: { ...key, id: from.session }, revision: from.revision };
}

/**
 * Looks whether the fact that a fork goes on from is there and is the one that it was made of. Throws
 * PERDURE_FORK_ORIGIN_MISSING, and PERDURE_CHAIN_BROKEN with the place of the fork's first fact.
 */
export async function checkOrigin(
  store: EventStore,
  first: RecordedFact,
  { key, revision }: ForkOrigin,
): Promise<void> {
  const [fact] = (await store.read(sessionStream(key), { from: revision, limit: 1 })).facts;
  if (fact?.revision !== revision) {
    const session = sessionKeyOf(first.stream)?.id ?? first.stream;
    throw new PerdureError('PERDURE_FORK_ORIGIN_MISSING', { session, origin: key.id, revision });
  }
  const isIts = claimedHashes(fact.metadata)?.hash === claimedHashes(first.metadata)?.prevHash;
  if (!isIts || !isFactIntact(fact, sha256)) {
    throw new PerdureError('PERDURE_CHAIN_BROKEN', { stream: first.stream, revision: first.revision });
  }
}
