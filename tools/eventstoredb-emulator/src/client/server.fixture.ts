import { EventStoreDBClient } from '@eventstore/db-client';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../index.js';

/** The real server that the tests of the protocol run against instead of the emulator. */
export const realServer = process.env['EVENTSTOREDB_URL'];

/** What a real server cannot be asked for: faults on demand, a restart, limits of its own. */
export const isControllable = realServer === undefined;

export interface ServerUnderTest {
  readonly client: EventStoreDBClient;
  /** Only of the emulator. */
  readonly emulator: Emulator;
}

/** Starts an emulator for the tests of a file, or connects to the real server. */
export function serverUnderTest(options: Partial<EmulatorOptions> = {}): ServerUnderTest {
  let emulator: Emulator | undefined;
  let client: EventStoreDBClient | undefined;
  let folder: string | undefined;
  beforeAll(async () => {
    if (realServer === undefined) {
      folder = await mkdtemp(join(tmpdir(), 'eventstoredb-'));
      emulator = await startEmulator({ folder, waitsForDisk: false, ...options });
    }
    client = connect(realServer ?? emulator?.connectionString ?? '');
  });
  afterAll(async () => {
    await client?.dispose();
    await emulator?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  return {
    get client() {
      if (client === undefined) throw new Error('The client is there inside of tests only.');
      return client;
    },
    get emulator() {
      if (emulator === undefined) throw new Error('Only the emulator can be asked for this.');
      return emulator;
    },
  };
}

export function connect(connectionString: string): EventStoreDBClient {
  return EventStoreDBClient.connectionString(connectionString);
}

/** A stream that no other test has, on a server that others use too. */
export function newStream(prefix = 'test'): string {
  return `${prefix}-${randomUUID()}`;
}
