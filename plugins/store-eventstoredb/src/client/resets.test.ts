import { randomUUID } from 'node:crypto';
import { startEmulator } from '@perdure/eventstoredb-emulator';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectByDbClient } from './db-client-connection.js';

/** Servers end a connection on which clients reset more than a thousand calls in a short time. */
const READS = 1_500;
const AT_ONCE = 50;
const limits = { from: 0, direction: 'forwards', limit: 10, timeoutMs: 10_000 } as const;

async function connected() {
  const folder = await mkdtemp(join(tmpdir(), 'resets-'));
  const emulator = await startEmulator({ folder, waitsForDisk: false });
  const connection = connectByDbClient(emulator.connectionString);
  onTestFinished(async () => {
    await connection.close();
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  const bytes = new TextEncoder().encode('{}');
  const event = { id: randomUUID(), type: 'Happened', data: bytes, metadata: bytes };
  await connection.append('there', [event], { expected: 'none', timeoutMs: limits.timeoutMs });
  return connection;
}

/** Calls that go one after the other in as many lanes as there may be calls; the first failure ends it. */
async function many(call: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < READS) await call(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

test('reads of streams that are missing reset no call, however many they are', async () => {
  const connection = await connected();
  await many(async (number) => expect(await connection.readStream(`missing-${number}`, limits)).toBeUndefined());
  expect((await connection.readStream('there', limits))?.events).toHaveLength(1);
});
