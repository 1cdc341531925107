import type { AppendResult, ExpectedRevision, NewFact } from '@perdure/plugin-api';
import type { Announcement } from './announcement.js';
import type { Job } from './commit-queue.js';
import { addBatch, addBatchAtOnce, findStream, type FactTables } from './fact-tables.js';
import type { PackedBatch } from './packing.js';
import { positionText, type Position } from './position.js';
import type { StoreEnd } from './store-end.js';
import { readStreamPage } from './stream-page.js';

/** Appends a batch to a stream. `onStored` is called when it was committed. */
export function appendJob(
  tables: FactTables,
  end: StoreEnd,
  stream: string,
  facts: readonly NewFact[],
  packed: PackedBatch,
  expected: ExpectedRevision,
  onStored: (announcement: Announcement) => void,
): Job<AppendResult> {
  const last = lastRevision(facts, expected);
  let added: Position | undefined;
  const stored = (position: Position): AppendResult => {
    added = position;
    return { status: 'stored', revision: last, position: positionText(position.fact, position.weak) };
  };
  return {
    durability: tables.durability,
    stream,
    atOnce() {
      const position = addBatchAtOnce(tables, end, stream, packed, expected);
      return position === undefined ? undefined : stored(position);
    },
    run() {
      added = undefined;
      const position = addBatch(tables, end, stream, packed, expected);
      return position === undefined ? settle(tables, stream, facts, expected) : stored(position);
    },
    committed() {
      if (added === undefined) return;
      const { durability } = tables;
      onStored({ durability, stream, first: last - facts.length + 1, last, position: added, facts });
    },
    ambiguous: (cause) => ({ status: 'ambiguous', cause }),
  };
}

/** A batch whose ids are at its place already is stored; any other one is a conflict. */
function settle(
  tables: FactTables,
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
): AppendResult {
  const actual = findStream(tables, stream)?.head ?? 'none';
  const last = lastRevision(facts, expected);
  if (actual === 'none' || actual < last) return { status: 'conflict', actual };
  const first = last - facts.length + 1;
  const present = readStreamPage(tables, stream, { from: first, limit: facts.length });
  const isSame =
    present.facts.length === facts.length &&
    present.facts.every(({ id, revision }, index) => id === facts[index]?.id && revision === first + index);
  const position = present.facts.at(-1)?.position;
  if (!isSame || position === undefined) return { status: 'conflict', actual };
  return { status: 'stored', revision: last, position };
}

function lastRevision(facts: readonly NewFact[], expected: ExpectedRevision): number {
  return (expected === 'none' ? -1 : expected) + facts.length;
}
