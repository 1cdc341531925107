import type { EventStore, FactBatch } from '@perdure/plugin-api';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readPast } from './read-past.js';

/** What follows a store, as one that is away or there shows it. */
function following(follow: (signal: AbortSignal | undefined) => AsyncIterable<FactBatch>): EventStore {
  const source = { subscribe: (_: unknown, options: { readonly signal?: AbortSignal }) => follow(options.signal) };
  return source as unknown as EventStore;
}

async function positions(store: EventStore, ms: number): Promise<readonly (string | undefined)[]> {
  const read: (string | undefined)[] = [];
  for await (const { position } of readPast(store, { all: true }, {}, ms)) {
    read.push(position);
    // The reader's own work is no silence of the store.
    await sleep(2 * ms);
  }
  return read;
}

const batch = (position: string, caughtUp: boolean): FactBatch => ({ facts: [], position, caughtUp });

test('the past is given up to its end, and the subscription is left', async () => {
  let left: AbortSignal | undefined;
  const store = following(async function* (signal) {
    left = signal;
    yield batch('1', false);
    yield batch('2', true);
    yield batch('3', true);
  });
  expect(await positions(store, 50)).toEqual(['1', '2']);
  expect(left?.aborted).toBe(true);
});

test.each([0, 1])('a store that gives nothing behind %i batches is told to be away', async (given) => {
  let left: AbortSignal | undefined;
  const store = following(async function* (signal) {
    left = signal;
    for (let count = 0; count < given; count++) yield batch(String(count), false);
    // It does not even hear that it is left.
    await new Promise<never>(() => undefined);
  });
  await expect(positions(store, 50)).rejects.toMatchObject({
    code: 'PERDURE_STORE_UNAVAILABLE',
    message: expect.stringContaining('nothing came for 50 ms') as string,
  });
  expect(left?.aborted).toBe(true);
});

test('what a subscription fails with is passed on', async () => {
  // eslint-disable-next-line require-yield
  const store = following(async function* () {
    throw new Error('no');
  });
  await expect(positions(store, 50)).rejects.toThrow('no');
});
