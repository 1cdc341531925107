import type { ActivePlugin, FactRegistry } from '@perdure/events';
import type {
  ArtifactStore,
  EventStore,
  HostEnv,
  Logger,
  ProjectionStore,
  SnapshotStore,
  Workspaces,
} from '@perdure/plugin-api';
import type { ByteCache } from '../files/byte-cache.js';
import type { Redaction } from '../secrets/redaction.js';
import type { SecretRegistry } from '../secrets/secret-registry.js';
import type { NodeLease } from '../session/node-lease.js';
import type { Container } from './container.js';
import type { FailedSessions } from './failed-sessions.js';
import type { OpeningLane } from './opening-lane.js';
import type { RunIds } from './run-ids.js';
import type { RuntimeConfig } from './runtime-options.js';
import type { WaitCount } from './wait-count.js';

/** What all agents of a runtime share, resolved once at boot and sealed. */
export interface HostServices {
  readonly config: RuntimeConfig;
  readonly container: Container;
  readonly env: HostEnv;
  readonly logger: Logger;
  readonly store: EventStore;
  readonly artifacts: ArtifactStore | undefined;
  readonly artifactCache: ByteCache<Uint8Array | string>;
  readonly projections: ProjectionStore | undefined;
  readonly snapshots: SnapshotStore | undefined;
  readonly workspaces: Workspaces | undefined;
  readonly facts: FactRegistry;
  readonly secrets: SecretRegistry;
  readonly redaction: Redaction;
  readonly lease: NodeLease;
  readonly opening: OpeningLane;
  readonly runIds: RunIds;
  readonly plugins: readonly ActivePlugin[];
  /** How many wait in this process for turns to end. */
  readonly waited: WaitCount;
  /** Sessions that failed here, of which this process does not know whose they are. */
  readonly failed: FailedSessions;
}
