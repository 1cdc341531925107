import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { waitForOwner } from './wait-for-owner.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const owned = (): Promise<never> =>
  Promise.reject(new PerdureError('PERDURE_SESSION_OWNED', { session: 's', node: 'n' }));

test('goes on trying until the session is free, and tells once that it waits', async () => {
  const told: string[] = [];
  let tries = 0;
  const waiting = waitForOwner(
    () => (++tries < 4 ? owned() : Promise.resolve('free')),
    10_000,
    (node) => Promise.resolve(void told.push(node)),
  );
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await waiting).toBe('free');
  expect([tries, told]).toEqual([4, ['n']]);
});

test('gives up after the time to live of a lease, with the name of the node', async () => {
  let isOver = false;
  const waiting = waitForOwner(owned, 10_000, () => Promise.resolve()).catch((error: unknown) => {
    isOver = true;
    return error;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(isPerdureError(await waiting, 'PERDURE_SESSION_OWNED')).toBe(true);
});

test('does not wait for anything else', async () => {
  const busy = waitForOwner(
    () => Promise.reject(new PerdureError('PERDURE_NOT_SUPPLIED')),
    10_000,
    () => Promise.resolve(),
  );
  await expect(busy).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_NOT_SUPPLIED'));
});
