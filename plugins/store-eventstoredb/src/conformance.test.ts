import { describeEventStore } from '@perdure/testing/conformance';
import { emulatorPlace } from './emulator.fixture.js';

describeEventStore({
  name: 'EventStoreDB, emulated',
  capabilities: { shared: true, durable: true },
  create: () => emulatorPlace(),
});
