import {
  describeArtifactStore,
  describeEventStore,
  describeProjectionStore,
  describeSnapshotStore,
} from '@perdure/testing/conformance';
import { MemoryArtifactStore, MemoryEventStore, MemoryProjectionStore, MemorySnapshotStore } from './index.js';

const memory = { name: 'memory', capabilities: { shared: false, durable: false } };

describeEventStore({ ...memory, create: async () => ({ store: new MemoryEventStore() }) });
describeArtifactStore({ ...memory, create: async () => ({ store: new MemoryArtifactStore() }) });
describeProjectionStore({ ...memory, create: async () => ({ store: new MemoryProjectionStore() }) });
describeSnapshotStore({ ...memory, create: async () => ({ store: new MemorySnapshotStore() }) });
