import { definePlugin, EVENT_STORE, PLUGIN_API } from '@perdure/plugin-api';
import { z } from 'zod';
import type { Connection } from './client/connection.js';
import { connectByDbClient } from './client/db-client-connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';
import { version } from './version.js';

const connect = z.custom<(connectionString: string) => Connection>(
  (value) => typeof value === 'function',
  'must be a function',
);

/** Streams of facts in EventStoreDB. */
export const storeEventStoreDb = definePlugin({
  name: 'store-eventstoredb',
  api: PLUGIN_API,
  version,
  config: z.strictObject({
    connectionString: z.string().min(1),
    timeoutMs: z.number().int().positive().default(10_000),
    maxAppendBytes: z
      .number()
      .int()
      .positive()
      .default(1024 * 1024),
    connect: connect.default(() => connectByDbClient),
  }),
  provides: [EVENT_STORE],
  setup({ config: { connectionString, connect, ...options }, provide }) {
    const events = new EventStoreDbEventStore(connect(connectionString), options);
    provide(EVENT_STORE, events);
    return { stop: () => events.close() };
  },
});
