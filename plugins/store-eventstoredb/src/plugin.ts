import { ARTIFACT_STORE, definePlugin, EVENT_STORE, PLUGIN_API } from '@perdure/plugin-api';
import { openEventStoreDbStores, storesOptions } from './open-eventstoredb-stores.js';
import { version } from './version.js';

/** Facts and artifacts in EventStoreDB. Projections and snapshots come from another plugin. */
export const storeEventStoreDb = definePlugin({
  name: 'store-eventstoredb',
  api: PLUGIN_API,
  version,
  config: storesOptions,
  provides: [EVENT_STORE, ARTIFACT_STORE],
  setup({ config, provide }) {
    const stores = openEventStoreDbStores(config);
    provide(EVENT_STORE, stores.events);
    provide(ARTIFACT_STORE, stores.artifacts);
    return { stop: () => stores.close() };
  },
});
