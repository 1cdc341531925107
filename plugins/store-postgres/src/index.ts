export type { PostgresStoresOptions, PostgresTls } from './options.js';
export { openPostgresStores } from './open-postgres-stores.js';
export type { PostgresStores } from './open-postgres-stores.js';
export { storePostgres, storePostgres as default } from './plugin.js';
