import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator, type Emulator } from '@perdure/eventstoredb-emulator';
import type { EventStore } from '@perdure/plugin-api';
import type { StorePlace } from '@perdure/testing/conformance';
import { connectByDbClient } from './client/db-client-connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

export function openStore(connectionString: string, timeoutMs = 10_000): EventStoreDbEventStore {
  return new EventStoreDbEventStore(connectByDbClient(connectionString), { timeoutMs, maxAppendBytes: 1024 * 1024 });
}

export interface EmulatorPlace extends Required<StorePlace<EventStore>> {
  readonly emulator: Emulator;
}

/** A server of its own, with a store that is open on it. */
export async function emulatorPlace(timeoutMs?: number): Promise<EmulatorPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'store-eventstoredb-'));
  const emulator = await startEmulator({ folder, waitsForDisk: false });
  const open = async (): Promise<EventStore> => openStore(emulator.connectionString, timeoutMs);
  return {
    emulator,
    store: await open(),
    reopen: open,
    openSecond: open,
    async dispose() {
      await emulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
