import { crc32 } from 'node:zlib';
import type { RecordedFact } from '@perdure/events';
import { contentSum, parseShape, placeSum, provedPart, type BatchShape } from './packing.js';
import { positionText } from './position.js';
import { damaged } from './sqlite-error.js';
import { ID_BYTES, uuidAt } from './uuid.js';

/** Where a row stands and what it holds, without the texts of its facts. As it comes from the file, not believed. */
export type HeadRow = readonly [fact: unknown, weak: unknown, stream: unknown, revision: unknown, shape: unknown];

/** A whole row. `hexIds` are the ids in lower-case hex; `detail` is absent when it was not asked for. */
export type BatchRow = readonly [...HeadRow, hexIds: unknown, metadata: unknown, body: unknown, detail?: unknown];

/** A row whose place and shape are proved. */
export interface Batch {
  /** Position of the last fact; `weak` is 0 for a row of facts. */
  readonly fact: number;
  readonly weak: number;
  readonly stream: number;
  /** Revisions of the first and the last fact. */
  readonly first: number;
  readonly last: number;
  readonly shape: BatchShape;
}

/** Which facts of a row are wanted; all when nothing is said. */
export interface Wanted {
  readonly omitDetail?: boolean;
  readonly types?: ReadonlySet<string> | undefined;
}

/** Proves the head of a row. Throws PERDURE_STORE_DAMAGED. */
export function openBatch(row: readonly [...HeadRow, ...unknown[]], streamName: string | undefined): Batch {
  const [fact, weak, stream, revision, text] = row;
  if (!isCount(fact) || !isCount(weak) || !isCount(stream) || !isCount(revision) || typeof text !== 'string') {
    throw damaged('a row cannot be read', streamName);
  }
  const shape = parseShape(text);
  const first = revision - (shape?.facts.length ?? 0) + 1;
  const sum = placeSum(positionText(fact, weak), stream, revision, provedPart(text));
  if (shape === undefined || shape.placeSum !== sum || first < 0) {
    throw damaged(`the row at revision ${revision} is not what was written`, streamName);
  }
  return { fact, weak, stream, first, last: revision, shape };
}

/** The facts of a row in their order. Throws PERDURE_STORE_DAMAGED when its texts are not what was written. */
export function factsOf(row: BatchRow, batch: Batch, stream: string, wanted: Wanted): RecordedFact[] {
  const [, , , , , hexIds, metadata, body, detail] = row;
  const withDetail = wanted.omitDetail !== true;
  const { shape, last } = batch;
  const count = shape.facts.length;
  const isWhole =
    typeof hexIds === 'string' &&
    hexIds.length === count * ID_BYTES * 2 &&
    typeof metadata === 'string' &&
    typeof body === 'string' &&
    shape.contentSum === contentSum(hexIds, metadata, body);
  if (!isWhole) throw damaged(`the facts up to revision ${last} are not what was written`, stream);
  const detailText = typeof detail === 'string' ? detail : '';
  if (withDetail && shape.detailSum !== crc32(detailText)) {
    throw damaged(`the details up to revision ${last} are not what was written`, stream);
  }

  const facts: RecordedFact[] = [];
  let bodyAt = 0;
  let detailAt = 0;
  for (const [index, { type, isDetail, metadataRest, payload }] of shape.facts.entries()) {
    const text = isDetail ? detailText : body;
    const at = isDetail ? detailAt : bodyAt;
    const end = at + metadataRest + payload;
    if (isDetail) detailAt = end;
    else bodyAt = end;
    if ((isDetail && !withDetail) || wanted.types?.has(type) === false) continue;
    const behind = count - 1 - index;
    facts.push({
      stream,
      revision: last - behind,
      position: batch.weak === 0 ? positionText(batch.fact - behind, 0) : positionText(batch.fact, batch.weak - behind),
      id: uuidAt(hexIds, index),
      type,
      payload: text.slice(at + metadataRest, end),
      metadata: metadata + text.slice(at, at + metadataRest),
    });
  }
  if (bodyAt !== body.length || (withDetail && detailAt !== detailText.length)) {
    throw damaged(`the lengths of the facts up to revision ${last} do not add up`, stream);
  }
  return facts;
}

/** How much a row holds. Code units. */
export function sizeOf(row: BatchRow): number {
  let size = 0;
  for (const text of [row[6], row[7], row[8]]) if (typeof text === 'string') size += text.length;
  return size;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
