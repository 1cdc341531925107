import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TimeLimit, waitsForNobody } from './time-limit.js';

test('a limit stands still while people are waited for, and goes on with what is left of it', async () => {
  let isWaiting = false;
  let look: () => void = () => undefined;
  const over: number[] = [];
  const waits = {
    isWaiting: () => isWaiting,
    onChange: (listener: () => void) => ((look = listener), () => undefined),
  };
  const limit = new TimeLimit(40, waits, () => over.push(1));
  isWaiting = true;
  look();
  look();
  await sleep(120);
  expect(over).toEqual([]);
  isWaiting = false;
  look();
  await sleep(120);
  expect(over).toEqual([1]);
  expect(limit.end()).toBeGreaterThanOrEqual(39);
});

test('a limit that ended does nothing', async () => {
  const over: number[] = [];
  const limit = new TimeLimit(5, waitsForNobody, () => over.push(1));
  limit.end();
  await sleep(30);
  expect(over).toEqual([]);
});
