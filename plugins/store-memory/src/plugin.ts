import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  PLUGIN_API,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { MemoryArtifactStore } from './memory-artifact-store.js';
import { MemoryEventStore } from './memory-event-store.js';
import { MemoryProjectionStore } from './memory-projection-store.js';
import { MemorySnapshotStore } from './memory-snapshot-store.js';
import { version } from './version.js';

/** All stores in memory. What they hold ends with the runtime. */
export const storeMemory = definePlugin({
  name: 'store-memory',
  api: PLUGIN_API,
  version,
  config: z.strictObject({}),
  provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE],
  setup({ provide }) {
    const events = new MemoryEventStore();
    const artifacts = new MemoryArtifactStore();
    const projections = new MemoryProjectionStore();
    const snapshots = new MemorySnapshotStore();
    provide(EVENT_STORE, events);
    provide(ARTIFACT_STORE, artifacts);
    provide(PROJECTION_STORE, projections);
    provide(SNAPSHOT_STORE, snapshots);
    return {
      async stop() {
        for (const store of [events, artifacts, projections, snapshots]) await store.close();
      },
    };
  },
});
