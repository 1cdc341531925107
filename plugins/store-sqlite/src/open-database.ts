import { accessSync, constants, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PerdureError } from '@perdure/plugin-api';
import { Database } from './database.js';
import { isSafeSqlite, type SqliteConnection, type SqliteDriver } from './driver.js';
import { makeFile } from './make-file.js';
import { checkSchema, createSchema } from './schema.js';
import { isBusy } from './sqlite-error.js';
import type { TailWitness } from './tail-witness.js';

/** How long a write waits for another process. Milliseconds. */
const BUSY_TIMEOUT = 5_000;

/** Bytes of the file that are read through memory, which halves the time of a cold read. */
const MAPPED = 256 * 1024 * 1024;

const SETTINGS = [
  'pragma synchronous = full',
  // 1,000 pages of 1 KB: a larger log makes a checkpoint stall the process, and grows with every commit.
  'pragma wal_autocheckpoint = 1000',
  `pragma journal_size_limit = ${4 * 1024 * 1024}`,
  `pragma mmap_size = ${MAPPED}`,
  'pragma cell_size_check = on',
  'pragma trusted_schema = off',
].join('; ');

/**
 * Opens the file of the stores, and makes it when it is missing. Throws PERDURE_STORE_READ_ONLY, PERDURE_STORE_NEWER,
 * PERDURE_STORE_DAMAGED, PERDURE_STORE_UNAVAILABLE, or PERDURE_STORE_TRUNCATED for a file that is empty though it
 * cannot be.
 */
export function openDatabase(path: string, driver: SqliteDriver, witness: TailWitness, acceptLoss: boolean): Database {
  makeFile(path);
  accessSync(path, constants.R_OK | constants.W_OK);
  const connection = new driver.DatabaseSync(path);
  try {
    // First of all: whatever is prepared reads the schema, which another process that makes the file has locked.
    connection.exec(`pragma busy_timeout = ${BUSY_TIMEOUT}`);
    checkVersion(connection, driver);
    connection.exec(SETTINGS);
    if (checkSchema(connection) === 'empty') {
      const witnessed = witness.read();
      if (witnessed !== undefined && !acceptLoss) {
        throw new PerdureError('PERDURE_STORE_TRUNCATED', { stream: witnessed.stream, lastRevision: -1 });
      }
      // Both hold for a file that has no page yet, and for ever.
      connection.exec('pragma page_size = 1024; pragma auto_vacuum = none');
    }
    useWriteAheadLog(connection);
    createSchema(connection);
    return new Database(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Makes the folder of the stores, for its owner only. A folder that is there stays as it is. */
export function makeFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}

function checkVersion(connection: SqliteConnection, { name }: SqliteDriver): void {
  const version = firstValue(connection, 'select sqlite_version()');
  if (typeof version === 'string' && isSafeSqlite(version)) return;
  const reason = `${name} has SQLite ${String(version)}, which is not safe for several processes`;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: 'driver', reason });
}

/**
 * The switch to the log needs the file for a moment alone and does not wait for it, so that processes which make the
 * file at the same time try again.
 */
function useWriteAheadLog(connection: SqliteConnection): void {
  const giveUp = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      const mode = firstValue(connection, 'pragma journal_mode = wal');
      if (mode === 'wal') return;
      const reason = `the file system allows no write-ahead log, but "${String(mode)}"`;
      throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason });
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUp) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function firstValue(connection: SqliteConnection, sql: string): unknown {
  return Object.values((connection.prepare(sql).get() ?? {}) as object)[0];
}
