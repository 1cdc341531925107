import { getEventListeners, setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FactBatch } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { subscription } from './subscription.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const caughtUp: FactBatch = { facts: [], caughtUp: true };

async function* batches(signal: AbortSignal): AsyncGenerator<FactBatch, undefined> {
  yield caughtUp;
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return undefined;
}

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('followers that have ended leave nothing with the store that they followed, whatever was collected', async () => {
  const store = new AbortController();
  setMaxListeners(0, store.signal);
  const followers = Array.from({ length: 20 }, () => new AbortController());
  const following = followers.map(async ({ signal }) => {
    for await (const batch of subscription([store.signal, signal], batches)) expect(batch).toBe(caughtUp);
  });
  await turn();
  expect(listenersOf(store.signal)).toBe(followers.length);
  collectGarbage();
  await turn();
  for (const follower of followers) follower.abort();
  await Promise.all(following);
  expect(listenersOf(store.signal)).toBe(0);
});

test('a follower ends with either signal, also one that has aborted before', async () => {
  const [store, follower] = [new AbortController(), new AbortController()];
  follower.abort();
  const seen: FactBatch[] = [];
  for await (const batch of subscription([store.signal, follower.signal], batches)) seen.push(batch);
  expect(seen).toEqual([caughtUp]);
  expect(listenersOf(store.signal)).toBe(0);
});
