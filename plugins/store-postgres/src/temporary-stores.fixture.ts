import type { StorePlace } from '@perdure/testing/conformance';
import pg from 'pg';
import { inject } from 'vitest';
import { openPostgresStores, type PostgresStores } from './open-postgres-stores.js';
import type { PostgresStoresOptions } from './options.js';

let made = 0;

/** A schema that no other test has. */
export function freshSchema(): string {
  made += 1;
  return `test_${process.pid}_${performance.timeOrigin.toString(36).slice(-8).replace('.', '_')}_${made}`;
}

/** Runs a statement beside the stores. */
export async function runSql(text: string, url = inject('postgresUrl')): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export interface TemporaryStores {
  readonly schema: string;
  open(options?: PostgresStoresOptions): Promise<PostgresStores>;
  /** Closes what was opened, and removes the schema. */
  dispose(): Promise<void>;
  closeAll(): Promise<void>;
}

/** A schema of its own on the server that all tests share. */
export function temporaryStores(url = inject('postgresUrl')): TemporaryStores {
  const schema = freshSchema();
  const opened: PostgresStores[] = [];
  const closeAll = async (): Promise<void> => {
    for (const stores of opened.splice(0)) await stores.close();
  };
  return {
    schema,
    closeAll,
    async open(options = {}) {
      const stores = await openPostgresStores({ url, schema, ...options });
      opened.push(stores);
      return stores;
    },
    async dispose() {
      await closeAll();
      // The other server is thrown away with all that is in it.
      if (inject('isForeignServer'))
        await runSql(`set client_min_messages = warning; drop schema if exists ${schema} cascade`, url);
    },
  };
}

/** A fresh schema for one test of a suite. The other stores of it are closed with the one that is tested. */
export async function placeOf<Port extends 'events' | 'artifacts' | 'projections' | 'snapshots'>(
  port: Port,
): Promise<StorePlace<PostgresStores[Port]>> {
  const stores = temporaryStores();
  const open = async (): Promise<PostgresStores[Port]> => (await stores.open({ maxArtifactBytes: 4_000_000 }))[port];
  return {
    store: await open(),
    openSecond: open,
    async reopen() {
      await stores.closeAll();
      return open();
    },
    dispose: () => stores.dispose(),
  };
}
