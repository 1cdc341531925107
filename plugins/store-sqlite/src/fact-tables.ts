import { PerdureError, type ExpectedRevision } from '@perdure/plugin-api';
import { BatchTable, FACT_ROWS, WEAK_ROWS } from './batch-table.js';
import type { Database, Durability } from './database.js';
import type { PackedBatch } from './packing.js';
import type { Position } from './position.js';
import { damaged } from './sqlite-error.js';
import type { StoreEnd } from './store-end.js';
import { StreamTable, type StreamRow } from './stream-table.js';
import { ID_BYTES } from './uuid.js';

/** Streams and their rows: once for facts, and once for drafts and leases. */
export interface FactTables {
  readonly durability: Durability;
  readonly streams: StreamTable;
  readonly batches: BatchTable;
}

export function openFactTables(database: Database, durability: Durability): FactTables {
  const isWeak = durability === 'weak';
  return {
    durability,
    streams: new StreamTable(database, isWeak ? 'weak_stream' : 'stream'),
    batches: new BatchTable(database, isWeak ? WEAK_ROWS : FACT_ROWS),
  };
}

/**
 * A stream with its head, which the rows prove. Throws PERDURE_STORE_TRUNCATED when facts at its end are missing, and
 * PERDURE_STORE_DAMAGED when there are more than the stream knows.
 */
export function findStream(tables: FactTables, name: string): StreamRow | undefined {
  const row = tables.streams.find(name);
  if (row === undefined) return undefined;
  const last = Math.max(tables.batches.lastRevision(row.id) ?? -1, row.cut - 1);
  if (tables.durability === 'weak') {
    const head = Math.max(row.head, last);
    if (head < 0) throw damaged('no fact is left', name);
    return { ...row, head };
  }
  if (last < row.head) throw new PerdureError('PERDURE_STORE_TRUNCATED', { stream: name, lastRevision: last });
  if (last > row.head) throw damaged('there are facts behind the head', name);
  return row;
}

/**
 * Adds a batch if `expected` is the last revision, inside a transaction. Returns the position of its last fact, or
 * `undefined` when the stream stands elsewhere, and then nothing was changed.
 */
export function addBatch(
  tables: FactTables,
  end: StoreEnd,
  name: string,
  packed: PackedBatch,
  expected: ExpectedRevision,
): Position | undefined {
  const { streams } = tables;
  if (expected !== 'none') {
    const id = streams.knownId(name) ?? streams.find(name)?.id;
    return id === undefined ? undefined : insert(tables, end, id, expected + 1, packed);
  }
  if (streams.find(name) !== undefined) return undefined;
  const position = insert(tables, end, streams.insert(name), 0, packed);
  if (position === undefined) throw damaged('a first fact does not join', name);
  return position;
}

/** Adds a batch in one statement and without a transaction, if nobody else has written since the end was seen. */
export function addBatchAtOnce(
  tables: FactTables,
  end: StoreEnd,
  name: string,
  packed: PackedBatch,
  expected: ExpectedRevision,
): Position | undefined {
  const id = tables.streams.knownId(name);
  if (id === undefined || expected === 'none') return undefined;
  const position = placeBehind(tables, end.lastSeen, packed);
  if (!tables.batches.insert(position, id, expected + 1, packed)) return undefined;
  end.note(position);
  return position;
}

/** Tries behind the end that was last seen, and when another process was faster, behind the end that it made. */
function insert(
  tables: FactTables,
  end: StoreEnd,
  stream: number,
  first: number,
  packed: PackedBatch,
): Position | undefined {
  let position = placeBehind(tables, end.lastSeen, packed);
  let isAdded = tables.batches.insert(position, stream, first, packed);
  if (!isAdded) {
    const { fact, weak } = end.lastSeen;
    const actual = { fact: end.fact(), weak: end.weak() };
    if (actual.fact === fact && actual.weak === weak) return undefined;
    position = placeBehind(tables, actual, packed);
    isAdded = tables.batches.insert(position, stream, first, packed);
  }
  if (!isAdded) return undefined;
  end.note(position);
  return position;
}

function placeBehind({ durability }: FactTables, { fact, weak }: Position, { ids }: PackedBatch): Position {
  const count = ids.byteLength / ID_BYTES;
  return durability === 'weak' ? { fact, weak: weak + count } : { fact: fact + count, weak: 0 };
}
