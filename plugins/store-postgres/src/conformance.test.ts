import {
  describeArtifactStore,
  describeEventStore,
  describeProjectionStore,
  describeSnapshotStore,
} from '@perdure/testing/conformance';
import { placeOf } from './temporary-stores.fixture.js';

const postgres = { name: 'postgres', capabilities: { shared: true, durable: true } };
describeEventStore({ ...postgres, create: () => placeOf('events') });
describeArtifactStore({ ...postgres, create: () => placeOf('artifacts') });
describeProjectionStore({ ...postgres, create: () => placeOf('projections') });
describeSnapshotStore({ ...postgres, create: () => placeOf('snapshots') });
