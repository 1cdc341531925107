import type { RecordedFact } from '@perdure/events';
import type { ReadPage } from '@perdure/plugin-api';
import { factsOf, openBatch, sizeOf, type Batch, type Wanted } from './batch-row.js';
import { PAGE_SIZE, rowsToRead } from './batch-table.js';
import { findStream, type FactTables } from './fact-tables.js';
import { damaged } from './sqlite-error.js';
import type { StreamRow } from './stream-table.js';

export interface PageOptions extends Wanted {
  readonly from?: number | undefined;
  readonly backwards?: boolean;
  readonly limit: number;
}

/** Rows of one page, also when none of their facts is wanted. */
const ROWS_OF_A_PAGE = 1_000;

/**
 * Reads a page of a stream on one state of the file. Rows must join: a revision that is missing between the cut and the
 * head is an error, never a shorter page.
 */
export function readStreamPage(tables: FactTables, name: string, options: PageOptions): ReadPage {
  const stream = findStream(tables, name);
  if (stream === undefined) return { facts: [], head: 'none' };
  const backwards = options.backwards === true;
  const { cut, head } = stream;
  const first = backwards ? Math.min(options.from ?? head, head) : Math.max(options.from ?? 0, cut);
  if (first < cut || first > head) return { facts: [], head };
  const { facts, next } = collect(tables, name, stream, first, options);
  return next < cut || next > head ? { facts, head } : { facts, head, next };
}

function collect(
  tables: FactTables,
  name: string,
  { id, cut, head }: StreamRow,
  first: number,
  options: PageOptions,
): { readonly facts: RecordedFact[]; readonly next: number } {
  const backwards = options.backwards === true;
  const { limit } = options;
  const facts: RecordedFact[] = [];
  let next = first;
  let size = 0;
  let count = 0;
  while (next >= cut && next <= head) {
    const asked = rowsToRead(count, size);
    const rows = tables.batches.from(id, next, backwards, options.omitDetail === true, asked);
    for (const row of rows) {
      const batch = openBatch(row, name);
      checkJoint(batch, next, first, backwards, name);
      for (const fact of inDirection(factsOf(row, batch, name, options), backwards)) {
        if (backwards ? fact.revision > next : fact.revision < next) continue;
        if (facts.length === limit) return { facts, next: fact.revision };
        if (fact.revision < cut) break;
        facts.push(fact);
      }
      next = backwards ? batch.first - 1 : batch.last + 1;
      size += sizeOf(row);
      count += 1;
      if (facts.length >= limit || size >= PAGE_SIZE || count >= ROWS_OF_A_PAGE) return { facts, next };
    }
    if (rows.length < asked && next >= cut && next <= head) throw damaged(`revision ${next} is missing`, name);
  }
  return { facts, next };
}

/** A row must begin where the one before it ended; the first one must hold the revision that was asked for. */
function checkJoint(batch: Batch, next: number, asked: number, backwards: boolean, name: string): void {
  const holds = batch.first <= next && next <= batch.last;
  const joins = next === asked || (backwards ? batch.last : batch.first) === next;
  if (!holds || !joins) throw damaged(`revision ${next} is missing`, name);
}

function inDirection(facts: RecordedFact[], backwards: boolean): RecordedFact[] {
  return backwards ? facts.reverse() : facts;
}
