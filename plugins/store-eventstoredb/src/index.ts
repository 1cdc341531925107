export { connectByDbClient } from './client/db-client-connection.js';
export type {
  AppendOptions,
  Appended,
  Connection,
  Limits,
  NewEvent,
  Page,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  Settings,
  StoredEvent,
  Watched,
} from './client/connection.js';
export {
  openEventStoreDbStores,
  type EventStoreDbStores,
  type EventStoreDbStoresOptions,
} from './open-eventstoredb-stores.js';
export { storeEventStoreDb, storeEventStoreDb as default } from './plugin.js';
