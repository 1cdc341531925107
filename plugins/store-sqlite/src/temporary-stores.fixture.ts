import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StorePlace } from '@perdure/testing/conformance';
import { builtInDriver, bundledDriver, type SqliteDriver } from './driver.js';
import { openSqliteStores, type SqliteStores } from './open-sqlite-stores.js';

/** Every SQLite that this Node can run. */
export async function presentDrivers(): Promise<readonly SqliteDriver[]> {
  const builtIn = builtInDriver();
  return builtIn === undefined ? [await bundledDriver()] : [builtIn, await bundledDriver()];
}

export function temporaryFolder(): { readonly folder: string; readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-sqlite-'));
  return { folder, path: join(folder, 'perdure.db'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A fresh file for one test of a suite. The other stores of the file are closed with the one that is tested. */
export async function placeOf<Port extends 'events' | 'artifacts' | 'projections' | 'snapshots'>(
  port: Port,
  driver: SqliteDriver,
): Promise<StorePlace<SqliteStores[Port]>> {
  const { path, remove } = temporaryFolder();
  const opened: SqliteStores[] = [];
  const open = async (): Promise<SqliteStores[Port]> => {
    const stores = await openSqliteStores({ path, driver, maxArtifactBytes: 4 * 1024 * 1024 });
    opened.push(stores);
    return stores[port];
  };
  return {
    store: await open(),
    openSecond: open,
    async reopen() {
      for (const stores of opened) await stores.close();
      return open();
    },
    async dispose() {
      for (const stores of opened) await stores.close();
      remove();
    },
  };
}
