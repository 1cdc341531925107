import { expect, test } from 'vitest';
import { OpeningLane } from './opening-lane.js';

test('a burst enters in the order of the calls, eight in each turn of the event loop', async () => {
  let turn = 0;
  const next = (): void => void setImmediate(() => ((turn += 1), turn < 10 && next()));
  next();
  const lane = new OpeningLane();
  const entered: { readonly caller: number; readonly turn: number }[] = [];
  const enter = async (_: unknown, caller: number): Promise<void> => {
    await lane.enter();
    entered.push({ caller, turn });
  };
  await Promise.all(Array.from({ length: 30 }, enter));
  expect(entered).toEqual(Array.from({ length: 30 }, (_, caller) => ({ caller, turn: Math.floor(caller / 8) })));
});

test('one that comes alone enters within the turn', async () => {
  const lane = new OpeningLane();
  let isNextTurn = false;
  setImmediate(() => (isNextTurn = true));
  await lane.enter();
  expect(isNextTurn).toBe(false);
});
