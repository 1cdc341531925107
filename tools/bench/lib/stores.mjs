// The stores that a runtime is measured on. A place is what a run has of its own on a server that others use too.
import { join } from 'node:path';
import { storeEventStoreDb } from '@perdure/store-eventstoredb';
import { storeMemory } from '@perdure/store-memory';
import { storePostgres } from '@perdure/store-postgres';
import { storeSqlite } from '@perdure/store-sqlite';

const sqlite = (folder) => ({ plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } });

/** Sessions on the server, projections and snapshots in a file of the node: as a cluster has it. */
const eventStoreDb = (folder, { address }) => [
  { plugin: storeEventStoreDb, config: { connectionString: address } },
  { ...sqlite(folder), only: ['projection-store', 'snapshot-store'] },
];

const choices = {
  memory: () => [storeMemory],
  sqlite: (folder) => [sqlite(folder)],
  postgres: (_, { address, name }) => [{ plugin: storePostgres, config: { url: address, schema: name } }],
  emulator: eventStoreDb,
  eventstoredb: eventStoreDb,
};

/** Plugin choices that provide all stores. */
export function storesFor(store, folder, place) {
  return choices[store](folder, place);
}
