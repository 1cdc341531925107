import {
  describeArtifactStore,
  describeEventStore,
  describeProjectionStore,
  describeSnapshotStore,
} from '@perdure/testing/conformance';
import { placeOf, presentDrivers } from './temporary-stores.fixture.js';

for (const driver of await presentDrivers()) {
  const sqlite = { name: driver.name, capabilities: { shared: true, durable: true } };
  describeEventStore({ ...sqlite, create: () => placeOf('events', driver) });
  describeArtifactStore({ ...sqlite, create: () => placeOf('artifacts', driver) });
  describeProjectionStore({ ...sqlite, create: () => placeOf('projections', driver) });
  describeSnapshotStore({ ...sqlite, create: () => placeOf('snapshots', driver) });
}
