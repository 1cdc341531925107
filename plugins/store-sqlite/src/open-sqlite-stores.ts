import { resolve } from 'node:path';
import type { ArtifactStore, EventStore, NodePresence, ProjectionStore, SnapshotStore } from '@perdure/plugin-api';
import { SqliteArtifactStore } from './artifact-store.js';
import type { Database } from './database.js';
import { defaultPath } from './default-path.js';
import { defaultDriver, type SqliteDriver } from './driver.js';
import { SqliteEventStore } from './event-store.js';
import { openFactTables } from './fact-tables.js';
import { Holes } from './holes.js';
import { checkText, invalidInput } from '@perdure/plugin-api/store-input';
import { acceptLoss, checkEnd, checkSum } from './loss.js';
import { makeFolder, openDatabase } from './open-database.js';
import { SqlitePresence } from './presence.js';
import { SqliteProjectionStore } from './projection-store.js';
import { SqliteSnapshotStore } from './snapshot-store.js';
import { guarded } from './sqlite-error.js';
import { StoreEnd } from './store-end.js';
import type { StoreTables } from './store-page.js';
import { removeIfEmpty, TailWitness } from './tail-witness.js';

export interface SqliteStoresOptions {
  /** The database file. `$XDG_STATE_HOME/perdure/perdure.db` or `~/.local/state/perdure/perdure.db` when absent. */
  readonly path?: string;
  /** The SQLite to use; the one of this Node or the one that comes with the package when absent. */
  readonly driver?: SqliteDriver;
  /**
   * Goes on after PERDURE_STORE_TRUNCATED with the facts that are left. What was lost is given up for good, and streams
   * that lost their end go on where they end now.
   */
  readonly acceptLoss?: boolean;
  /** Bytes of the largest artifact; 256 MiB when absent. Storing one holds the process up for about 10 ms per MiB. */
  readonly maxArtifactBytes?: number;
}

const LARGEST_ARTIFACT = 256 * 1024 * 1024;

export interface SqliteStores {
  readonly events: EventStore;
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionStore;
  readonly snapshots: SnapshotStore;
  readonly presence: NodePresence;
  /** Closes all stores, gives up the marks of presence, and closes the file. */
  close(): Promise<void>;
}

/**
 * Opens all stores in one SQLite file. Beside the file `x.db` there are `x.db-wal` and `x.db-shm` of SQLite,
 * `x.db-tail` (how far the facts reach) and `x.db-nodes` (marks of presence); they belong together.
 *
 * Throws PERDURE_STORE_READ_ONLY, PERDURE_STORE_NEWER, PERDURE_STORE_DAMAGED, PERDURE_STORE_TRUNCATED,
 * PERDURE_STORE_FULL or PERDURE_STORE_UNAVAILABLE.
 */
export async function openSqliteStores(options: SqliteStoresOptions = {}): Promise<SqliteStores> {
  if (options.path !== undefined) checkText('path', options.path);
  if (options.path === '') throw invalidInput('path', 'must not be empty');
  const path = resolve(options.path ?? defaultPath());
  const { maxArtifactBytes = LARGEST_ARTIFACT, acceptLoss: isLossAccepted = false } = options;
  if (!Number.isSafeInteger(maxArtifactBytes) || maxArtifactBytes < 1024 * 1024 || maxArtifactBytes > 2 ** 32) {
    throw invalidInput('maxArtifactBytes', 'must be a number from 1,048,576 to 4,294,967,296');
  }
  const driver = options.driver ?? (await defaultDriver());
  return guarded(() => openFile(path, driver, { isLossAccepted, maxArtifactBytes }));
}

interface FileOptions {
  readonly isLossAccepted: boolean;
  readonly maxArtifactBytes: number;
}

function openFile(path: string, driver: SqliteDriver, options: FileOptions): SqliteStores {
  const { isLossAccepted, maxArtifactBytes } = options;
  makeFolder(path);
  const witness = new TailWitness(`${path}-tail`);
  let database: Database | undefined;
  try {
    database = openDatabase(path, driver, witness, isLossAccepted);
    const tables = openTables(database);
    if (isLossAccepted) acceptLoss(database, tables, witness);
    else checkWhole(database, tables, witness);
    return openStores(path, driver, { database, tables, witness }, maxArtifactBytes);
  } catch (error) {
    database?.close();
    witness.close();
    removeIfEmpty(`${path}-tail`);
    throw error;
  }
}

function openTables(database: Database): StoreTables {
  return {
    facts: openFactTables(database, 'durable'),
    weak: openFactTables(database, 'weak'),
    holes: new Holes(database),
    end: new StoreEnd(database),
  };
}

function checkWhole(database: Database, tables: StoreTables, witness: TailWitness): void {
  const witnessed = witness.read();
  database.read(() => {
    checkEnd(tables, witnessed);
    checkSum(database, tables);
  });
}

function openStores(
  path: string,
  driver: SqliteDriver,
  file: { readonly database: Database; readonly tables: StoreTables; readonly witness: TailWitness },
  maxArtifactBytes: number,
): SqliteStores {
  const { database, witness } = file;
  let users = 4;
  const leave = (): void => {
    users -= 1;
    if (users > 0) return;
    witness.close();
    guarded(() => database.close());
  };
  const events = new SqliteEventStore(file, leave);
  const artifacts = new SqliteArtifactStore(database, maxArtifactBytes, leave);
  const projections = new SqliteProjectionStore(database, leave);
  const snapshots = new SqliteSnapshotStore(database, leave);
  const presence = new SqlitePresence(driver, `${path}-nodes`);
  return {
    events,
    artifacts,
    projections,
    snapshots,
    presence,
    async close() {
      presence.releaseAll();
      for (const store of [events, artifacts, projections, snapshots]) await store.close();
    },
  };
}
