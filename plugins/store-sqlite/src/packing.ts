import { crc32 } from 'node:zlib';
import type { NewFact } from '@perdure/plugin-api';
import { isStorableText } from '@perdure/plugin-api/store-input';
import { uuidDigits } from './uuid.js';

/**
 * The columns of a row that holds the facts of one append.
 *
 * `metadata` is the beginning that all metadata texts of the batch have in common. `body` holds, fact by fact, the rest
 * of the metadata text and the payload. Facts that are detail are in `detail` instead, which is the last column, so
 * that reads which omit them never touch it.
 */
export interface PackedBatch {
  /** The shape without its first number, which depends on where the row will stand. */
  readonly shape: string;
  /** 16 bytes per fact. */
  readonly ids: Uint8Array;
  readonly metadata: string;
  readonly body: string;
  readonly detail: string | null;
}

/** What a shape tells about one fact. Lengths are code units. */
export interface FactShape {
  readonly type: string;
  readonly isDetail: boolean;
  readonly metadataRest: number;
  readonly payload: number;
}

/**
 * How the texts of a row are taken apart, and what proves them. As text:
 * `<place sum>.<content sum>.<detail sum>;` and per fact
 * `<length of type>.<length of metadata rest>.<length of payload>`, then `:`, or for detail `!`, and the type.
 * Numbers are decimal. The length in front lets a type have any characters.
 */
export interface BatchShape {
  /** Checksum of where the row stands and of the rest of the shape. */
  readonly placeSum: number;
  /** Checksum of ids, metadata and body. */
  readonly contentSum: number;
  /** Checksum of detail; 0 when there is none. */
  readonly detailSum: number;
  readonly facts: readonly FactShape[];
}

export function packBatch(facts: readonly NewFact[], ids: Uint8Array): PackedBatch {
  const metadata = commonBeginning(facts);
  let hexIds = '';
  let body = '';
  let detail = '';
  let shapes = '';
  let hasDetail = false;
  for (const fact of facts) {
    const text = fact.metadata.slice(metadata.length) + fact.payload;
    const isDetail = fact.detail === true;
    if (isDetail) detail += text;
    else body += text;
    hasDetail ||= isDetail;
    hexIds += uuidDigits(fact.id);
    const rest = fact.metadata.length - metadata.length;
    shapes += `${fact.type.length}.${rest}.${fact.payload.length}${isDetail ? '!' : ':'}${fact.type}`;
  }
  const shape = `${contentSum(hexIds, metadata, body)}.${hasDetail ? crc32(detail) : 0};${shapes}`;
  return { shape, ids, metadata, body, detail: hasDetail ? detail : null };
}

/** Whether the texts come back the same. Joined texts are fewer to look at than those of each fact. */
export function isStorable({ shape, metadata, body, detail }: PackedBatch): boolean {
  return [shape, metadata, body, detail ?? ''].every(isStorableText);
}

/** Proves what a row holds beside its shape and detail. `hexIds` are the ids in lower-case hex. */
export function contentSum(hexIds: string, metadata: string, body: string): number {
  return crc32(hexIds + metadata + body);
}

/** Proves where a row stands and what the rest of its shape says. */
export function placeSum(position: string, stream: number, revision: number, rest: string): number {
  return crc32(`${position} ${stream} ${revision} ${rest}`);
}

/** The part of a shape that its first number proves. */
export function provedPart(shape: string): string {
  return shape.slice(shape.indexOf('.') + 1);
}

/** Takes a shape apart. `undefined` when the text is none. */
export function parseShape(shape: string): BatchShape | undefined {
  const numbers = new NumberReader(shape);
  const place = numbers.until(DOT);
  const content = numbers.until(DOT);
  const detail = numbers.until(SEMICOLON);
  const facts: FactShape[] = [];
  while (numbers.at < shape.length) {
    const typeLength = numbers.until(DOT);
    const metadataRest = numbers.until(DOT);
    const payload = numbers.until(COLON, BANG);
    const isDetail = shape.charCodeAt(numbers.at - 1) === BANG;
    const type = shape.slice(numbers.at, numbers.at + typeLength);
    numbers.at += typeLength;
    if (numbers.isBroken || numbers.at > shape.length) return undefined;
    facts.push({ type, isDetail, metadataRest, payload });
  }
  if (numbers.isBroken || facts.length === 0) return undefined;
  return { placeSum: place, contentSum: content, detailSum: detail, facts };
}

const DOT = 46;
const SEMICOLON = 59;
const COLON = 58;
const BANG = 33;
const ZERO = 48;

/** Reads decimal numbers from a text, several times faster than slices and `Number` do. */
class NumberReader {
  at = 0;
  isBroken = false;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The number up to one of the two characters, which is passed by. */
  until(end: number, otherEnd = end): number {
    let value = 0;
    const first = this.at;
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at);
      if (code >= ZERO && code < ZERO + 10) {
        value = value * 10 + (code - ZERO);
        continue;
      }
      if (this.at === first || (code !== end && code !== otherEnd)) break;
      this.at += 1;
      return value;
    }
    this.isBroken = true;
    this.at = this.text.length;
    return 0;
  }
}

/** The longest beginning that all metadata texts share. It never ends inside a surrogate pair. */
function commonBeginning(facts: readonly NewFact[]): string {
  const first = facts[0]?.metadata ?? '';
  let length = first.length;
  for (let index = 1; index < facts.length; index++) length = commonLength(first, facts[index]?.metadata ?? '', length);
  if (length < first.length && isHighSurrogate(first.charCodeAt(length - 1))) length -= 1;
  return first.slice(0, length);
}

/** How many code units two texts share at their beginning. By halving, because comparing slices is native. */
function commonLength(a: string, b: string, most: number): number {
  let low = 0;
  let high = Math.min(most, b.length);
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
