import type { FaultRule } from '@perdure/eventstoredb-emulator';
import { isPerdureError, type NewFact } from '@perdure/plugin-api';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emulatorPlace, openStore, type EmulatorPlace } from './emulator.fixture.js';

const STREAM = 'session-_.faults';
/** Long enough for a call that is answered, on a busy machine. */
const TIMEOUT_MS = 1_500;

let place: EmulatorPlace;
beforeEach(async () => {
  place = await emulatorPlace(TIMEOUT_MS);
});
afterEach(async () => {
  await place.store.close();
  await place.dispose();
});

const fact = (n = 0): NewFact => ({ id: randomUUID(), type: 'Happened', payload: `{"n":${n}}`, metadata: '{}' });
const facts = (count: number): NewFact[] => Array.from({ length: count }, (_, n) => fact(n));
const inject = (rule: FaultRule): Promise<void> => place.emulator.faults.inject(rule);
const openCalls = async () => (await place.emulator.faults.counts()).open;

describe('an append', () => {
  test.each([
    { kind: 'no-answer', committed: true },
    { kind: 'no-answer', committed: false },
    { kind: 'cut', committed: true },
    { kind: 'cut', committed: false },
    { kind: 'unavailable', committed: true },
    { kind: 'cancelled', committed: true },
    { kind: 'timeout', committed: true },
    { kind: 'end', committed: true },
  ] as const)('that fails by %j is ambiguous, and stored once when it is sent again', async (fault) => {
    const batch = facts(3);
    await inject({ on: 'append', fault, times: 1 });
    expect(await place.store.append(STREAM, batch, { expected: 'none' })).toMatchObject({ status: 'ambiguous' });
    const again = await place.store.append(STREAM, batch, { expected: 'none' });
    expect(again).toMatchObject({ status: 'stored', revision: 2 });
    const { facts: stored } = await place.store.read(STREAM);
    expect(stored.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    expect(stored.at(-1)?.position).toBe(again.status === 'stored' ? again.position : undefined);
  });

  test('that is answered late is stored', async () => {
    await inject({ on: 'append', fault: { kind: 'late-answer', ms: 100 }, times: 1 });
    expect(await place.store.append(STREAM, facts(1), { expected: 'none' })).toMatchObject({ status: 'stored' });
  });

  test('that a busy server refuses is tried again', async () => {
    await inject({ on: 'append', fault: { kind: 'busy' }, times: 2 });
    expect(await place.store.append(STREAM, facts(1), { expected: 'none' })).toMatchObject({ status: 'stored' });
  });

  test('that meets a node that does not lead goes to the leader', async () => {
    const leader = await emulatorPlace();
    const fault = { kind: 'not-leader', host: '127.0.0.1', port: leader.emulator.port } as const;
    await inject({ on: 'append', fault });
    expect(await place.store.append(STREAM, facts(1), { expected: 'none' })).toMatchObject({ status: 'stored' });
    expect((await leader.store.read(STREAM)).facts).toHaveLength(1);
    await leader.store.close();
    await leader.dispose();
  });

  test('that is denied is refused at once', async () => {
    await inject({ on: 'append', fault: { kind: 'access-denied' }, times: 1 });
    const append = place.store.append(STREAM, facts(1), { expected: 'none' });
    await expect(append).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE'));
  });

  test('to a server that is not there is refused', async () => {
    const store = openStore('esdb://127.0.0.1:1?tls=false');
    const append = store.append(STREAM, facts(1), { expected: 'none' });
    await expect(append).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE'));
    await store.close();
  });

  test('of one store that fails does not touch one of another store of the process', async () => {
    const other = await emulatorPlace(TIMEOUT_MS);
    await other.emulator.faults.inject({ on: 'append', fault: { kind: 'late-answer', ms: 300 }, times: 1 });
    await inject({ on: 'append', fault: { kind: 'cut', committed: false }, times: 1 });
    const [failed, stored] = await Promise.all([
      place.store.append(STREAM, facts(1), { expected: 'none' }),
      other.store.append(STREAM, facts(1), { expected: 'none' }),
    ]);
    expect([failed.status, stored.status]).toEqual(['ambiguous', 'stored']);
    await other.store.close();
    await other.dispose();
  });

  test('whose batch is too large for the server stores nothing', async () => {
    const large = Array.from({ length: 5 }, () => ({ ...fact(), payload: JSON.stringify('x'.repeat(250 * 1024)) }));
    const result = await place.store.append(STREAM, large, { expected: 'none' });
    expect(result).toMatchObject({ status: 'too-large', limit: 1024 * 1024 });
    expect(await place.store.read(STREAM)).toEqual({ facts: [], head: 'none' });
  });
});

describe('a read', () => {
  test.each([
    { kind: 'cut', afterEvents: 2 },
    { kind: 'unavailable', afterEvents: 2 },
    { kind: 'no-answer', afterEvents: 2 },
  ] as const)('that fails by %j is made again, and leaves nothing open', async (fault) => {
    await place.store.append(STREAM, facts(9), { expected: 'none' });
    await inject({ on: 'read', fault, times: 1 });
    expect((await place.store.read(STREAM)).facts).toHaveLength(9);
    await expect.poll(async () => (await openCalls()).read, { timeout: 5_000 }).toBe(0);
  });

  test('that is aborted ends, and leaves nothing open', async () => {
    await inject({ on: 'read', fault: { kind: 'no-answer' } });
    const abort = new AbortController();
    const read = place.store.read(STREAM, { signal: abort.signal });
    await expect.poll(async () => (await openCalls()).read, { timeout: 5_000 }).toBe(1);
    const reason = new Error('no more');
    abort.abort(reason);
    await expect(read).rejects.toBe(reason);
    await expect.poll(async () => (await openCalls()).read, { timeout: 5_000 }).toBe(0);
  });
});

describe('followers', () => {
  test('get everything once while their subscription breaks again and again', async () => {
    const kinds = ['cut', 'cancelled', 'unavailable', 'end'] as const;
    for (const kind of kinds) await inject({ on: 'subscribe', fault: { kind, afterEvents: 3 }, times: 1 });
    const seen: number[] = [];
    const abort = new AbortController();
    const following = (async () => {
      for await (const batch of place.store.subscribe({ stream: STREAM }, { signal: abort.signal })) {
        seen.push(...batch.facts.map(({ revision }) => revision));
        if (seen.length >= 40) abort.abort();
      }
    })();
    for (let revision = 0; revision < 40; revision += 1) {
      const batch = facts(1);
      const expected = revision === 0 ? 'none' : revision - 1;
      // A cut takes the connection of the subscription only: appends go over another one.
      expect(await place.store.append(STREAM, batch, { expected })).toMatchObject({ status: 'stored' });
    }
    await following;
    expect(seen).toEqual(Array.from({ length: 40 }, (_, revision) => revision));
  });

  test('need one subscription, however many they are, and no call while nothing happens', async () => {
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    let live = 0;
    const followers = Array.from({ length: 140 }, async (_, index) => {
      for await (const batch of place.store.subscribe({ stream: `session-_.${index}` }, { signal: abort.signal })) {
        if (batch.caughtUp) live += 1;
      }
    });
    await expect.poll(() => live, { timeout: 15_000 }).toBe(140);
    expect(await openCalls()).toMatchObject({ subscribe: 1, read: 0 });
    expect(await place.store.append(STREAM, facts(1), { expected: 'none' })).toMatchObject({ status: 'stored' });
    abort.abort();
    await Promise.all(followers);
  });
});
