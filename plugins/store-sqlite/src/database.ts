import type { SqliteConnection, SqliteValue } from './driver.js';

/** `durable`: the commit survives the death of the machine. `weak`: that of the process. */
export type Durability = 'durable' | 'weak';

/** A prepared statement whose rows are arrays. */
export interface RowStatement<Row extends readonly unknown[]> {
  run(...values: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: SqliteValue[]): Row | undefined;
  all(...values: SqliteValue[]): Row[];
  iterate(...values: SqliteValue[]): Iterable<Row>;
}

/** The connection that all stores of a file share. It has one transaction at a time, and none across a turn. */
export class Database {
  private readonly connection: SqliteConnection;
  private readonly beginRead: RowStatement<[]>;
  private readonly beginWrite: RowStatement<[]>;
  private readonly commitIt: RowStatement<[]>;
  private readonly dataVersion: RowStatement<[number]>;
  private durability: Durability = 'durable';
  private undone = 0;

  /** Takes over a connection that is set up (see open-database.ts) with full synchronisation. */
  constructor(connection: SqliteConnection) {
    this.connection = connection;
    this.beginRead = this.prepare('begin');
    this.beginWrite = this.prepare('begin immediate');
    this.commitIt = this.prepare('commit');
    this.dataVersion = this.prepare('pragma data_version');
  }

  prepare<Row extends readonly unknown[]>(sql: string): RowStatement<Row> {
    const statement = this.connection.prepare(sql);
    if (statement.setReturnArrays !== undefined) {
      statement.setReturnArrays(true);
      return statement as RowStatement<Row>;
    }
    const toRow = (object: unknown): Row => Object.values(object as object) as unknown as Row;
    return {
      run: (...values) => statement.run(...values),
      get: (...values) => {
        const object = statement.get(...values);
        return object === undefined || object === null ? undefined : toRow(object);
      },
      all: (...values) => statement.all(...values).map(toRow),
      *iterate(...values) {
        for (const object of statement.iterate(...values)) yield toRow(object);
      },
    };
  }

  /** Runs work on one state of the file, whatever other processes write meanwhile. */
  read<Result>(work: () => Result): Result {
    this.beginRead.run();
    return this.finish(work);
  }

  /** Runs work in a transaction of its own. What it throws undoes everything. */
  write<Result>(durability: Durability, work: () => Result): Result {
    this.begin(durability);
    return this.finish(work);
  }

  begin(durability: Durability): void {
    this.use(durability);
    this.beginWrite.run();
  }

  /** Sets how durable the next transaction is, also that of a single statement. */
  use(durability: Durability): void {
    if (durability === this.durability) return;
    // By `exec`, because a prepared pragma takes effect when it is prepared, and not again when it runs.
    this.connection.exec(`pragma synchronous = ${durability === 'durable' ? 'full' : 'normal'}`);
    this.durability = durability;
  }

  commit(): void {
    this.commitIt.run();
  }

  /** How many transactions were undone. What was remembered from one of them is not true. */
  get rollbacks(): number {
    return this.undone;
  }

  /** Ends a transaction that failed. SQLite may have ended it already; one that stays open fails the next begin. */
  rollback(): void {
    this.undone += 1;
    try {
      this.connection.exec('rollback');
    } catch {
      // The error that made the rollback necessary is the one to report.
    }
  }

  /** Changes whenever another connection committed something. */
  version(): number {
    return this.dataVersion.get()?.[0] ?? 0;
  }

  /** Runs SQL that needs no rows. */
  exec(sql: string): void {
    this.connection.exec(sql);
  }

  /**
   * Moves the log into the file as far as nobody else needs it, and closes. The log is emptied by hand, because a
   * driver that cannot finish its statements keeps the connection half open until they are collected.
   */
  close(): void {
    try {
      this.connection.exec('pragma busy_timeout = 0; pragma wal_checkpoint(truncate)');
    } catch {
      // What cannot be moved stays in the log, where it is as durable as before and the next opening finds it.
    }
    this.connection.close();
  }

  private finish<Result>(work: () => Result): Result {
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }
}

/** Reads a single number. */
export function numberOf(row: readonly unknown[] | undefined): number | undefined {
  const value = row?.[0];
  return typeof value === 'number' ? value : undefined;
}
