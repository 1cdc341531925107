import { openBatch } from './batch-row.js';
import type { Job } from './commit-queue.js';
import type { Database } from './database.js';
import { findStream, type FactTables } from './fact-tables.js';
import type { StoreTables } from './store-page.js';

/** So many rows are deleted in one transaction. */
const ROWS = 500;

/**
 * Gives up the facts of a stream before a revision: first by the cut, which hides them, then by deleting whole rows,
 * some at a time. `more` asks for another run.
 */
export function truncateJob(
  tables: FactTables,
  { database, tables: all }: { readonly database: Database; readonly tables: StoreTables },
  stream: string,
  before: number,
): Job<'done' | 'more'> {
  const isWeak = tables.durability === 'weak';
  return {
    durability: tables.durability,
    stream,
    run() {
      const found = findStream(tables, stream);
      if (found === undefined) return 'done';
      const cut = Math.max(found.cut, Math.min(before, found.head + 1));
      if (isWeak) keepCount(database);
      if (cut > found.cut) tables.streams.truncate(stream, found.id, found.head, cut);
      const rows = tables.batches.endingBefore(found.id, cut, ROWS).map((row) => openBatch(row, stream));
      for (const { fact, weak } of rows) tables.batches.delete(isWeak ? weak : fact);
      if (!isWeak) addHoles(all, rows);
      return rows.length === ROWS ? 'more' : 'done';
    },
  };
}

/** Remembers the positions of rows of facts, neighbours as one. */
function addHoles({ holes }: StoreTables, rows: readonly { fact: number; first: number; last: number }[]): void {
  let open: { first: number; last: number } | undefined;
  for (const { fact, first, last } of rows) {
    const start = fact - (last - first);
    if (open?.last === start - 1) {
      open.last = fact;
      continue;
    }
    if (open !== undefined) holes.add(open.first, open.last);
    open = { first: start, last: fact };
  }
  if (open !== undefined) holes.add(open.first, open.last);
}

/** The rows that are deleted may be the last ones; the count of drafts must not move back. */
function keepCount(database: Database): void {
  database.exec(
    `update counter set value = (select max(position) from weak_batch)
     where name = 'weak' and value < (select max(position) from weak_batch)`,
  );
}
