import type { NewFact } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { idsOf, newFact, newFacts, readAll, store } from '../facts.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.repeat';

/** Append again, and append too much. */
export function verifyRepeat({ verify }: EventStoreSuite): void {
  verify('event-store:append:repeat', async ({ store: events }) => {
    const first = newFacts(3);
    const second = newFacts(2);
    const third = newFacts(1);
    const results = [
      await store(events, STREAM, first, 'none'),
      await store(events, STREAM, second, 2),
      await store(events, STREAM, third, 4),
    ];
    expect(await store(events, STREAM, first, 'none')).toEqual(results[0]);
    expect(await store(events, STREAM, second, 2)).toEqual(results[1]);
    expect(await store(events, STREAM, third, 4)).toEqual(results[2]);
    const again = await Promise.all([first, first].map((facts) => events.append(STREAM, facts, { expected: 'none' })));
    expect(again).toEqual([results[0], results[0]]);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf([...first, ...second, ...third]));
  });

  verify('event-store:append:other-ids', async ({ store: events }) => {
    const first = newFacts(2);
    const second = newFacts(2);
    await store(events, STREAM, first, 'none');
    await store(events, STREAM, second, 1);
    const isConflict = async (facts: readonly NewFact[], expected: number | 'none'): Promise<void> => {
      expect(await events.append(STREAM, facts, { expected })).toEqual({ status: 'conflict', actual: 3 });
    };
    await isConflict(newFacts(2), 'none');
    await isConflict(second, 'none');
    await isConflict(first, 1);
    await isConflict([...first].reverse(), 'none');
    await isConflict([...first.slice(0, 1), newFact()], 'none');
    await isConflict([...second, newFact()], 1);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf([...first, ...second]));
  });

  verify('event-store:append:too-large', async ({ store: events }) => {
    const limit = events.limits.maxEventBytes;
    const metadata = '{"a":"é"}';
    const sized = (bytes: number): NewFact =>
      newFact({ metadata, payload: JSON.stringify('ü'.repeat(8) + 'x'.repeat(bytes - 10 - 16 - 2)) });
    const exact = sized(limit);
    await store(events, STREAM, [newFact(), exact], 'none');
    const result = await events.append(STREAM, [newFact(), sized(limit + 1)], { expected: 1 });
    expect(result).toEqual({ status: 'too-large', bytes: limit + 1, limit });
    const facts = await readAll(events, STREAM);
    expect(facts).toHaveLength(2);
    expect(facts[1]?.payload === exact.payload).toBe(true);
    expect(await events.append('session-_.none', [sized(limit + 1)], { expected: 'none' })).toMatchObject({
      status: 'too-large',
    });
    expect(await events.read('session-_.none')).toEqual({ facts: [], head: 'none' });
  });

  verify('event-store:append:largest-batch', async ({ store: events }) => {
    const facts = newFacts(events.limits.maxBatch);
    const { revision } = await store(events, STREAM, facts, 'none');
    expect(revision).toBe(facts.length - 1);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(facts));
    await expectInvalid('facts', () => events.append(STREAM, [...facts, newFact()], { expected: revision }));
    expect((await events.read(STREAM, { limit: 1 })).head).toBe(revision);
  });
}
