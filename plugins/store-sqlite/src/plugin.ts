import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  NODE_PRESENCE,
  PLUGIN_API,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
} from '@perdure/plugin-api';
import { z } from 'zod';
import type { SqliteDriver } from './driver.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { version } from './version.js';

const driver = z.custom<SqliteDriver>(
  (value) => typeof value === 'object' && value !== null && 'name' in value && 'DatabaseSync' in value,
  'must have a name and a DatabaseSync',
);

/** All stores in one SQLite file, and the presence of the nodes that use it. */
export const storeSqlite = definePlugin({
  name: 'store-sqlite',
  api: PLUGIN_API,
  version,
  config: z.strictObject({
    path: z.string().min(1).exactOptional(),
    driver: driver.exactOptional(),
    maxArtifactBytes: z
      .int()
      .min(1024 * 1024)
      .max(2 ** 32)
      .exactOptional(),
  }),
  provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE, NODE_PRESENCE],
  async setup({ config, provide }) {
    const stores = await openSqliteStores(config);
    provide(EVENT_STORE, stores.events);
    provide(ARTIFACT_STORE, stores.artifacts);
    provide(PROJECTION_STORE, stores.projections);
    provide(SNAPSHOT_STORE, stores.snapshots);
    provide(NODE_PRESENCE, stores.presence);
    return { stop: () => stores.close() };
  },
});
