export { MemoryArtifactStore } from './memory-artifact-store.js';
export { MemoryEventStore } from './memory-event-store.js';
export { MemoryProjectionStore } from './memory-projection-store.js';
export { MemorySnapshotStore } from './memory-snapshot-store.js';
export { storeMemory, storeMemory as default } from './plugin.js';
