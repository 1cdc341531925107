import type {
  EventStoreLimits,
  ExpectedRevision,
  NewFact,
  ReadOptions,
  StoreSource,
  StreamSource,
  SubscribeOptions,
} from '@perdure/plugin-api';
import { checkList, checkName, checkText, checkWhole, invalid, LONGEST_NAME } from './input.js';
import { parsePosition, type Position } from './position.js';
import { ID_BYTES, writeUuid } from './uuid.js';

/**
 * Throws PERDURE_INPUT_INVALID with the field, unless the append is one that the port allows. Returns the ids as bytes.
 * Whether all texts have a UTF-8 form is left to `isStorable`, which sees them joined.
 */
export function checkAppend(
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
  limits: EventStoreLimits,
): Uint8Array {
  checkName('stream', stream);
  if (expected !== 'none') checkWhole('expected', expected, 0);
  checkList('facts', facts);
  if (facts.length === 0) throw invalid('facts', 'must not be empty');
  if (facts.length > limits.maxBatch) throw invalid('facts', `must not be more than ${limits.maxBatch}`);
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
  for (const [index, { id, type, payload, metadata }] of facts.entries()) {
    if (typeof id !== 'string' || !writeUuid(id, new Uint8Array(ID_BYTES), 0)) {
      throw invalid(`facts[${index}].id`, 'must be a UUID in lower case');
    }
    checkName(`facts[${index}].type`, type);
    checkText(`facts[${index}].payload`, payload);
    checkText(`facts[${index}].metadata`, metadata);
  }
  throw invalid('facts', 'must hold texts that have a UTF-8 form');
}

/** The size of the first fact that is larger than the limit. Bytes. */
export function tooLarge(facts: readonly NewFact[], limit: number): number | undefined {
  for (const { payload, metadata } of facts) {
    // A code unit has at most three bytes, so that most facts need not be measured.
    if ((payload.length + metadata.length) * 3 <= limit) continue;
    const bytes = Buffer.byteLength(payload) + Buffer.byteLength(metadata);
    if (bytes > limit) return bytes;
  }
  return undefined;
}

export function checkRead(stream: string, { from, limit, direction }: ReadOptions): void {
  checkName('stream', stream);
  if (from !== undefined) checkWhole('from', from, 0);
  if (limit !== undefined) checkWhole('limit', limit, 1);
  if (direction !== undefined && direction !== 'forwards' && direction !== 'backwards') {
    throw invalid('direction', 'must be "forwards" or "backwards"');
  }
}

/** Returns the place in the store behind which to begin, if one is given. */
export function checkSubscribe(source: StreamSource | StoreSource, options: SubscribeOptions): Position | undefined {
  checkNames('types', options.types);
  checkNames('categories', options.categories);
  if ('stream' in source) {
    checkName('stream', source.stream);
    if (source.after !== undefined) checkWhole('after', source.after, 0);
    return undefined;
  }
  if (source.after === undefined) return undefined;
  const position = typeof source.after === 'string' ? parsePosition(source.after) : undefined;
  if (position === undefined) throw invalid('after', 'must be a position of this store');
  return position;
}

export function checkTruncate(stream: string, before: number): void {
  checkName('stream', stream);
  checkWhole('before', before, 0);
}

function checkNames(field: string, names: unknown): void {
  if (names === undefined) return;
  checkList(field, names);
  if (names.some((name) => typeof name !== 'string')) throw invalid(field, 'must hold texts only');
}
