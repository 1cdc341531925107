import type { BatchRow, HeadRow } from './batch-row.js';
import { numberOf, type Database, type RowStatement } from './database.js';
import { placeSum, type PackedBatch } from './packing.js';
import { positionText, type Position } from './position.js';
import { ID_BYTES } from './uuid.js';

/** A page ends behind the row in which it reached this size, so that it fits into memory. Code units. */
export const PAGE_SIZE = 8 * 1024 * 1024;

/** Rows of one statement. Many at once are read faster than one by one. */
const MOST_ROWS = 256;
const FIRST_ROWS = 16;

/** How many rows to read next after so many rows of a size: as many as make a page, so that large ones come singly. */
export function rowsToRead(rows: number, size: number): number {
  if (rows === 0) return FIRST_ROWS;
  return Math.max(1, Math.min(MOST_ROWS, Math.floor((PAGE_SIZE * rows) / Math.max(size, 1))));
}

interface Layout {
  readonly table: string;
  /** The columns of a row's position. */
  readonly fact: string;
  readonly weak: string;
  /** The rows behind a position. */
  readonly behind: string;
}

export const FACT_ROWS: Layout = { table: 'batch', fact: 'position', weak: '0 as weak', behind: 'position > ?' };
export const WEAK_ROWS: Layout = {
  table: 'weak_batch',
  fact: 'after',
  weak: 'position',
  behind: 'after >= ? and position > ?',
};

/** The rows of all streams: one per append. Nothing that it returns is checked; see batch-row.ts. */
export class BatchTable {
  private readonly isWeak: boolean;
  private readonly insertRow: RowStatement<[]>;
  private readonly lastOf: RowStatement<[unknown]>;
  private readonly upwards: readonly [whole: RowStatement<BatchRow>, withoutDetail: RowStatement<BatchRow>];
  private readonly downwards: readonly [whole: RowStatement<BatchRow>, withoutDetail: RowStatement<BatchRow>];
  private readonly rowsBehind: RowStatement<BatchRow>;
  private readonly headsBehind: RowStatement<HeadRow>;
  private readonly rowAt: RowStatement<BatchRow>;
  private readonly rowsBelow: RowStatement<HeadRow>;
  private readonly deleteRow: RowStatement<[]>;

  constructor(database: Database, { table, fact, weak, behind }: Layout) {
    this.isWeak = weak === 'position';
    const head = `${fact}, ${weak}, stream, revision, shape`;
    const columns = `${head}, lower(hex(ids)), metadata, body`;
    const own = this.isWeak ? 'position, after' : 'position';
    const marks = this.isWeak ? '?, ?' : '?';
    const inStream = `from ${table} where stream = ? and revision`;
    const reachingInto = `(select min(revision) ${inStream} >= ?)`;
    this.insertRow = database.prepare(
      `insert into ${table} (${own}, stream, first, revision, shape, ids, metadata, body, detail)
       values (${marks}, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.lastOf = database.prepare(`select max(revision) from ${table} where stream = ?`);
    const upwards = (selected: string): RowStatement<BatchRow> =>
      database.prepare(`select ${selected} ${inStream} >= ? order by revision limit ?`);
    const downwards = (selected: string): RowStatement<BatchRow> =>
      database.prepare(`select ${selected} ${inStream} <= ${reachingInto} order by revision desc limit ?`);
    this.upwards = [upwards(`${columns}, detail`), upwards(columns)];
    this.downwards = [downwards(`${columns}, detail`), downwards(columns)];
    const order = `from ${table} where ${behind} order by position limit ?`;
    this.rowsBehind = database.prepare(`select ${columns}, detail ${order}`);
    this.headsBehind = database.prepare(`select ${head} ${order}`);
    this.rowAt = database.prepare(`select ${columns}, detail from ${table} where position = ?`);
    this.rowsBelow = database.prepare(`select ${head} ${inStream} < ? order by revision limit ?`);
    this.deleteRow = database.prepare(`delete from ${table} where position = ?`);
  }

  /**
   * Adds a row if it joins: its first fact must come right behind the last one of the stream, and its positions right
   * behind the last one of the store. `position` is that of its last fact. In one statement; see schema.ts.
   */
  insert({ fact, weak }: Position, stream: number, first: number, packed: PackedBatch): boolean {
    const { ids, metadata, body, detail } = packed;
    const last = first + ids.byteLength / ID_BYTES - 1;
    const shape = `${placeSum(positionText(fact, weak), stream, last, packed.shape)}.${packed.shape}`;
    const { changes } = this.isWeak
      ? this.insertRow.run(weak, fact, stream, first, last, shape, ids, metadata, body, detail)
      : this.insertRow.run(fact, stream, first, last, shape, ids, metadata, body, detail);
    return changes === 1;
  }

  /** The last revision of a stream's rows. */
  lastRevision(stream: number): number | undefined {
    return numberOf(this.lastOf.get(stream));
  }

  /** The row that holds a revision, and those behind it, or those before it. */
  from(stream: number, revision: number, backwards: boolean, omitDetail: boolean, limit: number): BatchRow[] {
    const [whole, withoutDetail] = backwards ? this.downwards : this.upwards;
    const statement = omitDetail ? withoutDetail : whole;
    return backwards ? statement.all(stream, stream, revision, limit) : statement.all(stream, revision, limit);
  }

  /** Rows whose last fact is behind a position, in the order of positions. */
  behind({ fact, weak }: Position, limit: number): BatchRow[] {
    return this.isWeak ? this.rowsBehind.all(fact, weak, limit) : this.rowsBehind.all(fact, limit);
  }

  /** The heads of the same rows. */
  headsOf({ fact, weak }: Position, limit: number): HeadRow[] {
    return this.isWeak ? this.headsBehind.all(fact, weak, limit) : this.headsBehind.all(fact, limit);
  }

  /** The row whose last fact has a position: its `fact`, or for a weak row its `weak`. */
  at(position: number): BatchRow | undefined {
    return this.rowAt.get(position);
  }

  /** The rows of a stream that end before a revision. */
  endingBefore(stream: number, revision: number, limit: number): HeadRow[] {
    return this.rowsBelow.all(stream, revision, limit);
  }

  delete(position: number): void {
    this.deleteRow.run(position);
  }
}
