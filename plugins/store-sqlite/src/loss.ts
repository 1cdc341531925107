import { PerdureError } from '@perdure/plugin-api';
import { numberOf, type Database } from './database.js';
import type { FactTables } from './fact-tables.js';
import type { Holes } from './holes.js';
import { damaged } from './sqlite-error.js';
import type { StoreTables } from './store-page.js';
import type { TailWitness, Witnessed } from './tail-witness.js';

/** Throws PERDURE_STORE_TRUNCATED when the facts end before the witness says. Read the witness before the state. */
export function checkEnd({ facts, end }: StoreTables, witnessed: Witnessed | undefined): void {
  if (witnessed === undefined || witnessed.position <= end.fact()) return;
  throw truncated(witnessed.stream, lastRevisionOf(facts, witnessed.stream));
}

/**
 * Every position was given to one fact of one stream, so that heads and positions add up. Throws when they do not: a
 * row or a stream is missing.
 */
export function checkSum(database: Database, tables: StoreTables): void {
  const { streams, missing } = sums(database, tables);
  if (missing === 0) return;
  for (const { name, head } of tables.facts.streams.all()) {
    const last = lastRevisionOf(tables.facts, name);
    if (last < head) throw truncated(name, last);
  }
  throw damaged(`${streams} facts are known to streams, which is not what their positions say`);
}

/**
 * Goes on after a loss: streams end where their rows end, and positions begin behind those that were lost, so that no
 * follower mistakes a fact for one that it has. What is missing inside a stream stays an error of that stream.
 */
export function acceptLoss(database: Database, tables: StoreTables, witness: TailWitness): void {
  database.write('durable', () => {
    const { facts, end, holes } = tables;
    for (const { name, id, head, cut } of [...facts.streams.all()]) {
      const last = Math.max(facts.batches.lastRevision(id) ?? -1, cut - 1);
      if (last < head) facts.streams.truncate(name, id, last, cut);
    }
    addMissingHoles(database, holes, Math.max(end.fact(), witness.read()?.position ?? 0));
    const { missing } = sums(database, tables);
    database.prepare("update counter set value = value + ? where name = 'lost'").run(missing);
  });
}

/** Makes holes of all positions without a row, up to the last one that is known of. */
function addMissingHoles(database: Database, holes: Holes, last: number): void {
  let next = 1;
  const rows = database.prepare<[number, number, number]>(
    'select position, first, revision from batch order by position',
  );
  for (const [position, first, revision] of rows.all()) {
    holes.fill(next, position - (revision - first) - 1);
    next = position + 1;
  }
  holes.fill(next, last);
}

/** The facts that streams know of, and how many more positions were given away, beside losses that were accepted. */
function sums(database: Database, { end }: StoreTables): { readonly streams: number; readonly missing: number } {
  const streams = numberOf(database.prepare('select coalesce(sum(head + 1), 0) from stream').get()) ?? 0;
  const lost = numberOf(database.prepare("select value from counter where name = 'lost'").get()) ?? 0;
  return { streams, missing: end.fact() - streams - lost };
}

function lastRevisionOf(tables: FactTables, name: string): number {
  const row = tables.streams.find(name);
  return row === undefined ? -1 : Math.max(tables.batches.lastRevision(row.id) ?? -1, row.cut - 1);
}

/** `lastRevision` is -1 when nothing is left of the stream. */
function truncated(stream: string, lastRevision: number): PerdureError {
  return new PerdureError('PERDURE_STORE_TRUNCATED', { stream, lastRevision });
}
