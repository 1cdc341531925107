import { coreDefinition, coreTypes } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { readChain } from './chain-reader.js';
import type { CommittedFact, Journal } from './journal.js';

/** Facts that others append to a session that this node owns. */
export const inputTypes = coreTypes.filter((type) => ['input', 'take-over'].includes(coreDefinition(type).lane));

/** A page of a session's facts behind a revision, checked and parsed; empty at the end of the stream. */
export async function readCommitted(
  store: EventStore,
  journal: Journal,
  after: number,
): Promise<readonly CommittedFact[]> {
  for await (const page of readChain(store, journal.stream, { from: after + 1 })) {
    return page.map((fact) => ({
      revision: fact.revision,
      type: fact.type,
      payload: journal.registry.read(fact).payload,
      recorded: fact,
    }));
  }
  return [];
}
