/** What each store port promises, as suites for vitest. */
export { describeArtifactStore } from './artifact-store/describe-artifact-store.js';
export { describeEventStore } from './event-store/describe-event-store.js';
export type { DeclaredCapabilities, StorePlace, StoreUnderTest } from './place.js';
export { describeProjectionStore } from './projection-store/describe-projection-store.js';
export {
  artifactStoreRequirements,
  eventStoreRequirements,
  projectionStoreRequirements,
  snapshotStoreRequirements,
} from './requirements.js';
export { describeSnapshotStore } from './snapshot-store/describe-snapshot-store.js';
