import { claimedHashes, isFactIntact, type FactRegistry, type PayloadOf, type RecordedFact } from '@perdure/events';
import { PerdureError, type EventStore } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';
import { invalidInput } from './session-input.js';

/** A place in a session at which another one can go on. */
export interface ForkPoint {
  readonly revision: number;
  readonly hash: string;
}

const PAGE = 64;

/**
 * The last step boundary at or before a revision, the head when absent: what a step has begun and not finished is left
 * out. It is found from the end, whatever came before. Throws PERDURE_INPUT_INVALID for a revision that the stream does
 * not have.
 */
export async function forkPoint(
  store: EventStore,
  stream: string,
  registry: FactRegistry,
  at: number | undefined,
): Promise<ForkPoint> {
  const { head } = await store.read(stream, { direction: 'backwards', limit: 1 });
  const last = head === 'none' ? -1 : head;
  if (at !== undefined && !(Number.isSafeInteger(at) && at >= 0 && at <= last)) {
    throw invalidInput('at', `it is a revision of the session, from 0 to ${last}`);
  }
  const revision = await boundaryBefore(store, stream, registry, at ?? last);
  const [fact] = (await store.read(stream, { from: revision, limit: 1 })).facts;
  const hash = fact?.revision === revision ? claimedHashes(fact.metadata)?.hash : undefined;
  if (fact === undefined || hash === undefined || !isFactIntact(fact, sha256)) {
    throw new PerdureError('PERDURE_CHAIN_BROKEN', { stream, revision });
  }
  return { revision, hash };
}

async function boundaryBefore(store: EventStore, stream: string, registry: FactRegistry, at: number): Promise<number> {
  let from: number | undefined = at;
  while (from !== undefined) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(stream, {
      direction: 'backwards',
      from,
      limit: PAGE,
    });
    for (const fact of page.facts) {
      if (fact.type === 'StepStarted') return fact.revision - 1;
      if (closesStep(fact, registry)) return at;
    }
    from = page.next;
  }
  return at;
}

/** A run that another owner goes on with may have left a step open. */
function closesStep(fact: RecordedFact, registry: FactRegistry): boolean {
  if (fact.type !== 'RunEnded') return fact.type === 'StepCheckpointed';
  const { status } = registry.read(fact).payload as PayloadOf<'RunEnded'>;
  return status !== 'handed-over' && status !== 'superseded';
}
