import { streamCategory, type RecordedFact } from '@perdure/events';
import { factsOf, openBatch, sizeOf, type Batch, type BatchRow } from './batch-row.js';
import { PAGE_SIZE, rowsToRead } from './batch-table.js';
import type { FactTables } from './fact-tables.js';
import type { Holes } from './holes.js';
import { comparePositions, positionText, type Position } from './position.js';
import { damaged } from './sqlite-error.js';
import type { StoreEnd } from './store-end.js';

/** Everything that a follower of the whole store reads from. */
export interface StoreTables {
  readonly facts: FactTables;
  readonly weak: FactTables;
  readonly holes: Holes;
  readonly end: StoreEnd;
}

export interface StoreFilter {
  readonly categories: ReadonlySet<string> | undefined;
  readonly types: ReadonlySet<string> | undefined;
}

export interface StorePage {
  readonly facts: readonly RecordedFact[];
  /** Where to go on. */
  readonly cursor: Position;
  readonly caughtUp: boolean;
}

/** Categories of the streams that are kept with weaker durability. */
export const WEAK_CATEGORIES: ReadonlySet<string> = new Set(['draft', 'lease']);

/** Rows of each kind that are looked at for one page. */
const ROWS = 256;

interface Entry {
  readonly tables: FactTables;
  readonly batch: Batch;
  /** Absent when only the head was read. */
  readonly row: BatchRow | undefined;
}

/** Reads what is stored behind a cursor, on one state of the file, in the order of positions. */
export function readStorePage(tables: StoreTables, cursor: Position, filter: StoreFilter): StorePage {
  const kinds = [tables.facts, tables.weak].filter((kind) => isWanted(kind, filter));
  const entries: Entry[] = [];
  let horizon: Position | undefined;
  for (const kind of kinds) {
    const found = lookBehind(kind, cursor, filter);
    if (kind === tables.facts) checkNothingMissing(found, tables, cursor);
    entries.push(...found.entries);
    const last = found.entries.at(-1)?.batch;
    if (!found.isLast && last !== undefined && (horizon === undefined || comparePositions(last, horizon) < 0)) {
      horizon = last;
    }
  }
  entries.sort((a, b) => comparePositions(a.batch, b.batch));
  // Behind the last row that was looked at, rows of the other kind may lack neighbours that were not.
  const end = horizon;
  return collect(end === undefined ? entries : entries.filter(({ batch }) => comparePositions(batch, end) <= 0), {
    tables,
    cursor,
    filter,
    isLast: end === undefined,
  });
}

interface Collecting {
  readonly tables: StoreTables;
  readonly cursor: Position;
  readonly filter: StoreFilter;
  readonly isLast: boolean;
}

function collect(entries: readonly Entry[], { tables, cursor, filter, isLast }: Collecting): StorePage {
  const facts: RecordedFact[] = [];
  let weak = cursor.weak;
  let fact = cursor.fact;
  let size = 0;
  for (const entry of entries) {
    const { batch } = entry;
    if (size >= PAGE_SIZE) return { facts, cursor: { fact, weak }, caughtUp: false };
    for (const given of wantedFacts(entry, filter)) {
      if (startsBefore(batch, cursor) && given.position <= positionText(cursor.fact, cursor.weak)) continue;
      facts.push(given);
      size += given.payload.length + given.metadata.length;
    }
    fact = batch.fact;
    weak = Math.max(weak, batch.weak);
  }
  if (!isLast) return { facts, cursor: { fact, weak }, caughtUp: false };
  return { facts, cursor: { fact: tables.end.fact(), weak: tables.end.weak() }, caughtUp: true };
}

function wantedFacts({ tables, batch, row }: Entry, { categories, types }: StoreFilter): RecordedFact[] {
  const name = tables.streams.nameOf(batch.stream);
  if (categories?.has(streamCategory(name)) === false) return [];
  if (types !== undefined && !batch.shape.facts.some(({ type }) => types.has(type))) return [];
  const whole = row ?? tables.batches.at(batch.weak === 0 ? batch.fact : batch.weak);
  if (whole === undefined) throw damaged(`the row at revision ${batch.last} is missing`, name);
  return factsOf(whole, batch, name, { types });
}

/** With a filter by type, bodies are read of the rows that pass it only. */
function lookBehind(
  tables: FactTables,
  cursor: Position,
  filter: StoreFilter,
): { readonly entries: Entry[]; readonly isLast: boolean } {
  const entries: Entry[] = [];
  if (filter.types !== undefined) {
    for (const row of tables.batches.headsOf(cursor, ROWS)) {
      entries.push({ tables, batch: openBatch(row, undefined), row: undefined });
    }
    return { entries, isLast: entries.length < ROWS };
  }
  let place = cursor;
  let size = 0;
  while (entries.length < ROWS && size < PAGE_SIZE) {
    const asked = Math.min(rowsToRead(entries.length, size), ROWS - entries.length);
    const rows = tables.batches.behind(place, asked);
    for (const row of rows) {
      const batch = openBatch(row, undefined);
      entries.push({ tables, batch, row });
      size += sizeOf(row);
      place = batch;
    }
    if (rows.length < asked) return { entries, isLast: true };
  }
  return { entries, isLast: false };
}

/** Positions of facts have no gaps but holes. A row that is missing for another reason is an error. */
function checkNothingMissing(
  { entries, isLast }: { readonly entries: readonly Entry[]; readonly isLast: boolean },
  { holes, end }: StoreTables,
  cursor: Position,
): void {
  let next = cursor.fact + 1;
  for (const [index, { batch }] of entries.entries()) {
    const first = batch.fact - (batch.last - batch.first);
    if (first < next && index > 0) throw damaged(`position ${first} is there twice`);
    if (first > next && !holes.cover(next, first - 1)) throw damaged(`position ${next} is missing`);
    next = batch.fact + 1;
  }
  if (isLast && !holes.cover(next, end.fact())) throw damaged(`position ${next} is missing`);
}

function startsBefore(batch: Batch, cursor: Position): boolean {
  const count = batch.last - batch.first;
  return batch.weak === 0 ? batch.fact - count <= cursor.fact : batch.weak - count <= cursor.weak;
}

function isWanted(tables: FactTables, { categories }: StoreFilter): boolean {
  if (categories === undefined) return true;
  const isWeak = tables.durability === 'weak';
  return [...categories].some((category) => WEAK_CATEGORIES.has(category) === isWeak);
}
