import { describeArtifactStore, describeEventStore } from '@perdure/testing/conformance';
import { placeOf } from './emulator.fixture.js';
import { placeAt } from './shared-server.fixture.js';

/** A real server, on which the suites run in the place of the emulator. */
const url = process.env['EVENTSTOREDB_URL'];

const name = url === undefined ? 'EventStoreDB, emulated' : 'EventStoreDB';
const capabilities = { shared: true, durable: true };
const create = <Name extends 'events' | 'artifacts'>(store: Name) =>
  url === undefined ? placeOf(store) : placeAt(url, store);
describeEventStore({ name, capabilities, create: () => create('events') });
describeArtifactStore({ name, capabilities, create: () => create('artifacts') });
