import type { EventStoreLimits, ExpectedRevision, NewFact, StoreSource, StreamSource } from '@perdure/plugin-api';
import { checkFact, checkTarget, invalidInput, LONGEST_NAME } from '@perdure/plugin-api/store-input';
import { parsePosition, type Position } from './position.js';
import { ID_BYTES, writeUuid } from './uuid.js';

/**
 * Throws PERDURE_INPUT_INVALID with the field, unless the append is one that the port allows. Returns the ids as bytes.
 * Whether all texts have a UTF-8 form is left to `isStorable`, which sees them joined.
 */
export function readIds(
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
  limits: EventStoreLimits,
): Uint8Array {
  checkTarget(stream, facts, expected, limits);
  const ids = new Uint8Array(facts.length * ID_BYTES);
  for (const [index, { id, type, payload, metadata }] of facts.entries()) {
    const isSound =
      typeof type === 'string' &&
      type !== '' &&
      type.length <= LONGEST_NAME &&
      typeof payload === 'string' &&
      typeof metadata === 'string' &&
      typeof id === 'string' &&
      writeUuid(id, ids, index * ID_BYTES);
    if (!isSound) refuseFacts(facts);
  }
  return ids;
}

/** Names what is wrong with a batch, and where. */
export function refuseFacts(facts: readonly NewFact[]): never {
  for (const [index, fact] of facts.entries()) checkFact(`facts[${index}]`, fact);
  throw invalidInput('facts', 'must hold texts that have a UTF-8 form');
}

/** The place in the store behind which a follower begins, if it gave one. */
export function placeBehind(source: StreamSource | StoreSource): Position | undefined {
  return 'stream' in source || source.after === undefined ? undefined : parsePosition(source.after);
}
