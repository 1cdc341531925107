import type { ArtifactStore, EventStore, ProjectionStore, SnapshotStore } from '@perdure/plugin-api';
import { PostgresArtifactStore } from './artifact-store.js';
import { Connections } from './connections.js';
import { PostgresEventStore } from './event-store.js';
import { migrate } from './migrate.js';
import { readOptions, type PostgresStoresOptions } from './options.js';
import { PostgresProjectionStore } from './projection-store.js';
import { PostgresSnapshotStore } from './snapshot-store.js';
import { Witness } from './witness.js';

export interface PostgresStores {
  readonly events: EventStore;
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionStore;
  readonly snapshots: SnapshotStore;
  /** Closes all stores and ends the connections. */
  close(): Promise<void>;
}

/**
 * Opens all stores in one schema of a PostgreSQL database, and makes the schema and its tables when they are not there.
 *
 * Throws PERDURE_INPUT_INVALID for an option, PERDURE_CONFIGURATION when the server refuses who connects or cannot keep
 * what is promised, PERDURE_STORE_NEWER, PERDURE_STORE_DAMAGED, PERDURE_STORE_READ_ONLY, or PERDURE_STORE_UNAVAILABLE.
 */
export async function openPostgresStores(options: PostgresStoresOptions = {}): Promise<PostgresStores> {
  const settings = readOptions(options);
  const { schema } = settings.names;
  const witness = new Witness(settings.names);
  const connections = new Connections(settings, witness.check);
  try {
    await migrate(connections, settings.names);
  } catch (error) {
    await connections.close();
    throw error;
  }
  let users = 4;
  const leave = async (): Promise<void> => {
    users -= 1;
    if (users === 0) await connections.close();
  };
  const events = new PostgresEventStore(connections, settings, witness, leave);
  const artifacts = new PostgresArtifactStore(connections, schema, settings.maxArtifactBytes, leave);
  const projections = new PostgresProjectionStore(connections, schema, leave);
  const snapshots = new PostgresSnapshotStore(connections, schema, leave);
  return {
    events,
    artifacts,
    projections,
    snapshots,
    async close() {
      for (const store of [events, artifacts, projections, snapshots]) await store.close();
    },
  };
}
