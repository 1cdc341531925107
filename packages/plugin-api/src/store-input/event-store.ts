import type {
  EventStoreLimits,
  ExpectedRevision,
  NewFact,
  ReadOptions,
  StoreSource,
  StreamSource,
  SubscribeOptions,
} from '../ports/event-store.js';
import { checkList, checkName, checkText, checkWhole, invalidInput } from './values.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Throws PERDURE_INPUT_INVALID with the field, unless the append is one that the port allows. */
export function checkAppend(
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
  limits: EventStoreLimits,
): void {
  checkTarget(stream, facts, expected, limits);
  for (const [index, fact] of facts.entries()) checkFact(`facts[${index}]`, fact);
}

/** All of an append but the facts themselves, for a store that looks at those while it encodes them. */
export function checkTarget(
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
  { maxBatch }: EventStoreLimits,
): void {
  checkName('stream', stream);
  if (expected !== 'none') checkWhole('expected', expected, 0);
  checkList('facts', facts);
  if (facts.length === 0) throw invalidInput('facts', 'must not be empty');
  if (facts.length > maxBatch) throw invalidInput('facts', `must not be more than ${maxBatch}`);
}

export function checkFact(field: string, { id, type, payload, metadata }: NewFact): void {
  if (typeof id !== 'string' || !UUID.test(id)) throw invalidInput(`${field}.id`, 'must be a UUID in lower case');
  checkName(`${field}.type`, type);
  checkText(`${field}.payload`, payload);
  checkText(`${field}.metadata`, metadata);
}

/** The size of the first fact that is larger than the limit, for the answer `too-large`. Bytes. */
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
    throw invalidInput('direction', 'must be "forwards" or "backwards"');
  }
}

/** `isPosition` says whether a text is a place in the store that is asked. */
export function checkSubscribe(
  source: StreamSource | StoreSource,
  options: SubscribeOptions,
  isPosition: (text: string) => boolean,
): void {
  checkNames('types', options.types);
  checkNames('categories', options.categories);
  if ('stream' in source) {
    checkName('stream', source.stream);
    if (source.after !== undefined) checkWhole('after', source.after, 0);
  } else if (source.after !== undefined && (typeof source.after !== 'string' || !isPosition(source.after))) {
    throw invalidInput('after', 'must be a position of this store');
  }
}

export function checkTruncate(stream: string, before: number): void {
  checkName('stream', stream);
  checkWhole('before', before, 0);
}

function checkNames(field: string, names: unknown): void {
  if (names === undefined) return;
  checkList(field, names);
  if (names.some((name) => typeof name !== 'string')) throw invalidInput(field, 'must hold texts only');
}
