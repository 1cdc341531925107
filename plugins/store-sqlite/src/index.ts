export { defaultPath } from './default-path.js';
export { builtInDriver, bundledDriver, defaultDriver } from './driver.js';
export type { SqliteConnection, SqliteDriver, SqliteStatement, SqliteValue } from './driver.js';
export { openSqliteStores } from './open-sqlite-stores.js';
export type { SqliteStores, SqliteStoresOptions } from './open-sqlite-stores.js';
export { storeSqlite, storeSqlite as default } from './plugin.js';
