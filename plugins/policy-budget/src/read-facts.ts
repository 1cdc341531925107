import {
  budgetDefinition,
  claimedHashes,
  isBudgetType,
  isFactIntact,
  readMetadata,
  type BudgetFact,
  type RecordedFact,
} from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { sha256 } from './encode-facts.js';

/** The hash that a stored fact closes the chain with. Throws PERDURE_CHAIN_BROKEN unless it is whole and follows. */
export function checkedHash(fact: RecordedFact, revision: number, prevHash: string): string {
  const claimed = claimedHashes(fact.metadata);
  if (fact.revision !== revision || claimed?.prevHash !== prevHash || !isFactIntact(fact, sha256)) {
    throw new PerdureError('PERDURE_CHAIN_BROKEN', { stream: fact.stream, revision });
  }
  return claimed.hash;
}

/** Parses a stored fact of a budget. A build must not draw on a budget of which it does not understand a fact. */
export function readBudgetFact({ type, payload, metadata, revision, stream }: RecordedFact): BudgetFact {
  const definition = isBudgetType(type) ? budgetDefinition(type) : undefined;
  const { schemaVersion, sessionId } = readMetadata(metadata);
  if (definition === undefined || schemaVersion > definition.version) {
    throw new PerdureError('PERDURE_FACT_NEWER', { session: sessionId, type, revision });
  }
  const parsed = definition.schema.safeParse(JSON.parse(payload));
  if (!parsed.success) {
    throw new PerdureError('PERDURE_STORE_DAMAGED', { reason: `revision ${revision} of "${stream}" is no ${type}` });
  }
  return { type, payload: parsed.data } as BudgetFact;
}
