import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator, type Emulator } from '@perdure/eventstoredb-emulator';
import type { ArtifactStore, EventStore } from '@perdure/plugin-api';
import type { StorePlace } from '@perdure/testing/conformance';
import { openEventStoreDbStores, type EventStoreDbStores } from './open-eventstoredb-stores.js';

export function openStore(connectionString: string, timeoutMs?: number): EventStore {
  return storeOf('events', openStores(connectionString, timeoutMs));
}

function openStores(connectionString: string, timeoutMs?: number): EventStoreDbStores {
  return openEventStoreDbStores({ connectionString, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** One of the stores; the others are closed with it. */
export function storeOf<Name extends 'events' | 'artifacts'>(
  name: Name,
  stores: EventStoreDbStores,
): EventStoreDbStores[Name] {
  const other: EventStore | ArtifactStore = name === 'events' ? stores.artifacts : stores.events;
  void other.close();
  return stores[name];
}

export interface EmulatorPlace<Store = EventStore> extends Required<StorePlace<Store>> {
  readonly emulator: Emulator;
}

/** A server of its own, with a store that is open on it. */
export function emulatorPlace(timeoutMs?: number): Promise<EmulatorPlace> {
  return placeOf('events', timeoutMs);
}

export async function placeOf<Name extends 'events' | 'artifacts'>(
  name: Name,
  timeoutMs?: number,
): Promise<EmulatorPlace<EventStoreDbStores[Name]>> {
  const folder = await mkdtemp(join(tmpdir(), 'store-eventstoredb-'));
  const emulator = await startEmulator({ folder, waitsForDisk: false });
  const open = async () => storeOf(name, openStores(emulator.connectionString, timeoutMs));
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
