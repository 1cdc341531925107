import { PerdureError, reasonOf } from '@perdure/plugin-api';

export type SqliteValue = string | number | null | Uint8Array;

/** The part of the API of `node:sqlite` that the stores use. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  iterate(...values: SqliteValue[]): Iterable<unknown>;
  /** Rows as arrays. Without it rows are objects, which is slower. */
  setReturnArrays?(returnArrays: boolean): void;
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** A SQLite for the stores: a module with the API of `node:sqlite`, and a name for messages. */
export interface SqliteDriver {
  readonly name: string;
  readonly DatabaseSync: new (path: string) => SqliteConnection;
}

/**
 * The first SQLite in which a checkpoint of one process cannot spoil the write-ahead log of another one. Perdure runs
 * several processes on one file, so that an older one is not used.
 */
const FIRST_SAFE_SQLITE = [3, 51, 3];

/** Before this major version, `node:sqlite` prints an ExperimentalWarning when it is loaded. */
const FIRST_QUIET_NODE = 24;

/** The SQLite of this Node when it is new enough and makes no noise; else the one of `@photostructure/sqlite`. */
export async function defaultDriver(): Promise<SqliteDriver> {
  return builtInDriver() ?? (await bundledDriver());
}

/** `node:sqlite`, or `undefined` where it is missing, too old, or prints a warning. Not loaded to find that out. */
export function builtInDriver(): SqliteDriver | undefined {
  const { node, sqlite } = process.versions;
  if (sqlite === undefined || !isSafeSqlite(sqlite)) return undefined;
  if (Number.parseInt(node, 10) < FIRST_QUIET_NODE) return undefined;
  const module: unknown = process.getBuiltinModule('node:sqlite');
  return hasDatabaseSync(module) ? { name: 'node:sqlite', DatabaseSync: module.DatabaseSync } : undefined;
}

/** `@photostructure/sqlite`. Throws PERDURE_STORE_UNAVAILABLE when its binary does not load on this machine. */
export async function bundledDriver(): Promise<SqliteDriver> {
  const name = '@photostructure/sqlite';
  try {
    const { DatabaseSync } = await import('@photostructure/sqlite');
    return { name, DatabaseSync };
  } catch (cause) {
    throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: `${name}: ${reasonOf(cause)}` }, { cause });
  }
}

/** Whether a version of SQLite may be used by several processes on one file. */
export function isSafeSqlite(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of FIRST_SAFE_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

function hasDatabaseSync(module: unknown): module is Pick<SqliteDriver, 'DatabaseSync'> {
  return typeof module === 'object' && module !== null && 'DatabaseSync' in module;
}
