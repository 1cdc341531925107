import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  LOGGER,
  PLUGIN_API,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { openPostgresStores } from './open-postgres-stores.js';
import { version } from './version.js';

const text = z.string().min(1).exactOptional();
const whole = z.int().min(1).exactOptional();

const passwordSource = z.custom<() => string | Promise<string>>(
  (value) => typeof value === 'function',
  'must be a text or a function',
);

const tls = z.strictObject({
  ca: text,
  cert: text,
  key: text,
  servername: text,
  rejectUnauthorized: z.boolean().exactOptional(),
});

const config = z.strictObject({
  url: text,
  host: text,
  port: z.int().min(1).max(65_535).exactOptional(),
  database: text,
  user: text,
  password: z.union([z.string(), passwordSource]).exactOptional(),
  ssl: z.union([z.boolean(), tls]).exactOptional(),
  schema: text,
  connections: whole,
  connectTimeoutMs: whole,
  queryTimeoutMs: whole,
  pollMs: whole,
  maxArtifactBytes: whole,
});

/** All stores in one schema of a PostgreSQL database. */
export const storePostgres = definePlugin({
  name: 'store-postgres',
  api: PLUGIN_API,
  version,
  config,
  provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE],
  wants: [LOGGER],
  async setup({ config: options, find, provide }) {
    const logger = find(LOGGER);
    const stores = await openPostgresStores({ ...options, ...(logger === undefined ? {} : { logger }) });
    provide(EVENT_STORE, stores.events);
    provide(ARTIFACT_STORE, stores.artifacts);
    provide(PROJECTION_STORE, stores.projections);
    provide(SNAPSHOT_STORE, stores.snapshots);
    return { stop: () => stores.close() };
  },
});
