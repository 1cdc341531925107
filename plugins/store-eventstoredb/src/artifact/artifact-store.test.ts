import { createHash, randomUUID } from 'node:crypto';
import { artifactStream } from '@perdure/events';
import type { ArtifactStore } from '@perdure/plugin-api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectByDbClient } from '../client/db-client-connection.js';
import type { Connection } from '../client/connection.js';
import { openStore, placeOf, type EmulatorPlace } from '../emulator.fixture.js';

const TENANT = 'acme';
const MIB = 1024 * 1024;
/** Five chunks, the last one short. */
const BYTES = Uint8Array.from({ length: MIB + 1_000 }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
const DIGEST = `sha256:${createHash('sha256').update(BYTES).digest('hex')}`;
const STREAM = artifactStream(TENANT, DIGEST);

let place: EmulatorPlace<ArtifactStore>;
let server: Connection;
beforeEach(async () => {
  place = await placeOf('artifacts', 1_500);
  server = connectByDbClient(place.emulator.connectionString);
});
afterEach(async () => {
  await server.close();
  await place.store.close();
  await place.dispose();
});

async function eventTypes(): Promise<readonly string[]> {
  const options = { from: 0, direction: 'forwards', limit: 100, timeoutMs: 5_000 } as const;
  return ((await server.readStream(STREAM, options))?.events ?? []).map(({ type }) => type.replace('Artifact', ''));
}

/** Leaves a writing behind as a process does that dies in it, with so many chunks. */
async function leaveHalf(chunks: number): Promise<void> {
  await place.emulator.faults.inject({ on: 'append', fault: { kind: 'access-denied' }, skip: chunks });
  await expect(place.store.put(TENANT, BYTES)).rejects.toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
  await place.emulator.faults.clear();
}

const WHOLE = ['Chunk', 'Chunk', 'Chunk', 'Chunk', 'Chunk', 'Whole'];

describe('a half-written artifact', () => {
  test.each([1, 2, 4])('of %i chunks is not there, and the next put writes the rest alone', async (chunks) => {
    await leaveHalf(chunks);
    expect(await eventTypes()).toEqual(WHOLE.slice(0, chunks));
    const second = await place.openSecond();
    for (const range of [{}, { to: 1 }, { from: 0, to: 0 }]) {
      expect(await second.get(TENANT, DIGEST, range)).toBeUndefined();
    }
    const before = (await place.emulator.faults.counts()).total.append;
    expect(await second.put(TENANT, BYTES)).toBe(DIGEST);
    expect((await place.emulator.faults.counts()).total.append - before).toBe(5 - chunks);
    expect(await eventTypes()).toEqual(WHOLE);
    expect(Buffer.compare((await place.store.get(TENANT, DIGEST)) ?? Buffer.of(), BYTES)).toBe(0);
    await second.close();
  });

  test('can be deleted, and be written again from its beginning', async () => {
    await leaveHalf(3);
    await place.store.delete(TENANT, DIGEST);
    expect(await eventTypes()).toEqual(['Deleted']);
    await place.store.put(TENANT, BYTES);
    expect(await eventTypes()).toEqual(['Deleted', ...WHOLE]);
    expect(Buffer.compare((await place.store.get(TENANT, DIGEST)) ?? Buffer.of(), BYTES)).toBe(0);
  });
});

describe('a put', () => {
  test('of bytes that are there writes nothing', async () => {
    await place.store.put(TENANT, BYTES);
    const { total } = await place.emulator.faults.counts();
    expect(await place.store.put(TENANT, BYTES)).toBe(DIGEST);
    expect((await place.emulator.faults.counts()).total.append).toBe(total.append);
    expect(await eventTypes()).toEqual(WHOLE);
  });

  test('by several nodes at one time writes once', async () => {
    const stores = await Promise.all([place.openSecond(), place.openSecond(), place.openSecond()]);
    const digests = await Promise.all([place.store, ...stores].map((store) => store.put(TENANT, BYTES)));
    expect(new Set(digests)).toEqual(new Set([DIGEST]));
    expect(await eventTypes()).toEqual(WHOLE);
    for (const store of stores) await store.close();
  });

  test.each([
    { kind: 'cut', committed: true },
    { kind: 'cut', committed: false },
    { kind: 'no-answer', committed: true },
    { kind: 'timeout', committed: true },
    { kind: 'busy' },
  ] as const)('goes on through %j', async (fault) => {
    await place.emulator.faults.inject({ on: 'append', stream: STREAM, fault, skip: 2, times: 1 });
    expect(await place.store.put(TENANT, BYTES)).toBe(DIGEST);
    expect(await eventTypes()).toEqual(WHOLE);
  });

  test('whose bytes others delete meanwhile begins again', async () => {
    const other = await place.openSecond();
    await place.emulator.faults.inject({ on: 'append', fault: { kind: 'slow', ms: 600 }, skip: 2, times: 1 });
    const put = place.store.put(TENANT, BYTES);
    await expect.poll(async () => (await place.emulator.faults.counts()).total.append, { interval: 5 }).toBe(3);
    await other.delete(TENANT, DIGEST);
    expect(await put).toBe(DIGEST);
    expect(await eventTypes()).toEqual(['Deleted', ...WHOLE]);
    expect((await other.get(TENANT, DIGEST))?.byteLength).toBe(BYTES.byteLength);
    await other.close();
  });
});

test('a deletion that its process left goes on by the next one', async () => {
  await place.store.put(TENANT, BYTES);
  await place.emulator.faults.inject({ on: 'append', stream: `$$${STREAM}`, fault: { kind: 'access-denied' } });
  await expect(place.store.delete(TENANT, DIGEST)).rejects.toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
  expect(await place.store.get(TENANT, DIGEST)).toBeUndefined();
  expect(await eventTypes()).toEqual([...WHOLE, 'Deleted']);
  await place.emulator.faults.clear();
  await place.store.delete(TENANT, DIGEST);
  expect(await eventTypes()).toEqual(['Deleted']);
});

test('bytes that are not what was written are refused, whole and in part', async () => {
  const other = Uint8Array.from(BYTES);
  other[300_000] = 0;
  const otherDigest = `sha256:${createHash('sha256').update(other).digest('hex')}`;
  await place.store.put(TENANT, other);
  // The events of other bytes under the name of these: every seal fits, and the digest does not.
  const options = { from: 0, direction: 'forwards', limit: 100, timeoutMs: 5_000 } as const;
  const copied = (await server.readStream(artifactStream(TENANT, otherDigest), options))?.events ?? [];
  for (const [index, { type, data, metadata }] of copied.entries()) {
    const event = { id: randomUUID(), type, data, metadata };
    await server.append(STREAM, [event], { expected: index === 0 ? 'none' : index - 1, timeoutMs: 5_000 });
  }
  await expect(place.store.get(TENANT, DIGEST)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
  const [first] = copied;
  const flipped = Uint8Array.from(first?.data ?? []);
  flipped[7] = (flipped[7] ?? 0) ^ 1;
  const stream = artifactStream('flipped', DIGEST);
  for (const [index, { type, data, metadata }] of copied.entries()) {
    const event = { id: randomUUID(), type, data: index === 0 ? flipped : data, metadata };
    await server.append(stream, [event], { expected: index === 0 ? 'none' : index - 1, timeoutMs: 5_000 });
  }
  const damaged = place.store.get('flipped', DIGEST, { from: 10, to: 20 });
  await expect(damaged).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
});

test('followers are not told of artifacts, and no fact gets into their streams', async () => {
  const events = openStore(place.emulator.connectionString);
  const fact = () => ({ id: randomUUID(), type: 'Happened', payload: '{}', metadata: '{}' });
  await place.store.put(TENANT, BYTES);
  await events.append('session-_.before', [fact()], { expected: 'none' });
  const seen: string[] = [];
  for await (const { facts, caughtUp } of events.subscribe({ all: true })) {
    seen.push(...facts.map(({ stream }) => stream));
    if (seen.length === 2) break;
    if (!caughtUp) continue;
    await place.store.put(TENANT, BYTES.subarray(0, 700_000));
    await events.append('session-_.after', [fact()], { expected: 'none' });
  }
  expect(seen).toEqual(['session-_.before', 'session-_.after']);
  await expect(events.append(STREAM, [fact()], { expected: 6 })).rejects.toMatchObject({
    code: 'PERDURE_INPUT_INVALID',
    data: { field: 'stream' },
  });
  await events.close();
});
