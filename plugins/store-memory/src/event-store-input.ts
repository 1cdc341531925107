import type {
  EventStoreLimits,
  ExpectedRevision,
  NewFact,
  ReadOptions,
  StoreSource,
  StreamSource,
  SubscribeOptions,
} from '@perdure/plugin-api';
import { checkList, checkName, checkText, checkWhole, invalid } from './input.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const POSITION = /^\d{16}$/;

/** Throws PERDURE_INPUT_INVALID with the field, unless the append is one that the port allows. */
export function checkAppend(
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
  limits: EventStoreLimits,
): void {
  checkName('stream', stream);
  if (expected !== 'none') checkWhole('expected', expected, 0);
  checkList('facts', facts);
  if (facts.length === 0) throw invalid('facts', 'must not be empty');
  if (facts.length > limits.maxBatch) throw invalid('facts', `must not be more than ${limits.maxBatch}`);
  for (const [index, fact] of facts.entries()) {
    if (typeof fact.id !== 'string' || !UUID.test(fact.id)) {
      throw invalid(`facts[${index}].id`, 'must be a UUID in lower case');
    }
    checkName(`facts[${index}].type`, fact.type);
    checkText(`facts[${index}].payload`, fact.payload);
    checkText(`facts[${index}].metadata`, fact.metadata);
  }
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

export function checkRead(stream: string, options: ReadOptions): void {
  checkName('stream', stream);
  const { from, limit, direction } = options;
  if (from !== undefined) checkWhole('from', from, 0);
  if (limit !== undefined) checkWhole('limit', limit, 1);
  if (direction !== undefined && direction !== 'forwards' && direction !== 'backwards') {
    throw invalid('direction', 'must be "forwards" or "backwards"');
  }
}

export function checkSubscribe(source: StreamSource | StoreSource, options: SubscribeOptions): void {
  const { after } = source;
  if ('stream' in source) {
    checkName('stream', source.stream);
    if (after !== undefined) checkWhole('after', after, 0);
  } else if (after !== undefined && (typeof after !== 'string' || !POSITION.test(after))) {
    throw invalid('after', 'must be a position of this store');
  }
  for (const field of ['types', 'categories'] as const) {
    const names = options[field];
    if (names === undefined) continue;
    checkList(field, names);
    for (const [index, name] of names.entries()) checkEntry(field, index, name);
  }
}

function checkEntry(field: string, index: number, name: unknown): void {
  if (typeof name !== 'string') throw invalid(field, `must hold texts, and entry ${index} is none`);
}

export function checkTruncate(stream: string, before: number): void {
  checkName('stream', stream);
  checkWhole('before', before, 0);
}
