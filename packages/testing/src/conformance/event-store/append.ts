import type { AppendResult } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { idsOf, newFact, newFacts, readAll, recorded, store, withoutPosition } from '../facts.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.append';

/** Append: batches, revisions, expectations and what is refused. */
export function verifyAppend({ verify }: EventStoreSuite): void {
  verify('event-store:append:atomic-batch', async ({ store: events }) => {
    const facts = [newFact({ type: 'First' }), newFact({ type: 'Second', detail: true }), newFact({ type: 'Third' })];
    await store(events, STREAM, facts, 'none');
    expect(withoutPosition(await readAll(events, STREAM))).toEqual(recorded(STREAM, facts));
  });

  verify('event-store:append:revisions', async ({ store: events }) => {
    expect((await store(events, STREAM, newFacts(3), 'none')).revision).toBe(2);
    expect((await store(events, STREAM, newFacts(1), 2)).revision).toBe(3);
    expect((await store(events, STREAM, newFacts(2), 3)).revision).toBe(5);
    expect((await store(events, 'session-_.other', newFacts(1), 'none')).revision).toBe(0);
    expect((await readAll(events, STREAM)).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  verify('event-store:append:positions', async ({ store: events }) => {
    const results: string[] = [];
    const streams = ['session-_.a', 'budget-_.b', 'session-t.c'];
    for (let round = 0; round < 12; round++) {
      for (const stream of streams) {
        const expected = round === 0 ? 'none' : round * 2 - 1;
        results.push((await store(events, stream, newFacts(2), expected)).position);
      }
    }
    expect(results.toSorted()).toEqual(results);
    const positions: string[] = [];
    for (const stream of streams) {
      const facts = await readAll(events, stream);
      expect(facts.map(({ position }) => position).toSorted()).toEqual(facts.map(({ position }) => position));
      positions.push(...facts.map(({ position }) => position));
      for (const fact of facts.filter(({ revision }) => revision % 2 === 1)) expect(results).toContain(fact.position);
    }
    expect(new Set(positions).size).toBe(positions.length);
    expect(new Set(positions.map(({ length }) => length)).size).toBe(1);
  });

  verify('event-store:append:expected-none', async ({ store: events }) => {
    await store(events, STREAM, newFacts(2), 'none');
    expect(await events.append(STREAM, newFacts(1), { expected: 'none' })).toEqual({ status: 'conflict', actual: 1 });
    expect(await events.append('session-_.missing', newFacts(1), { expected: 0 })).toEqual({
      status: 'conflict',
      actual: 'none',
    });
  });

  verify('event-store:append:expected-number', async ({ store: events }) => {
    await store(events, STREAM, newFacts(3), 'none');
    for (const expected of [0, 1, 3, 100]) {
      expect(await events.append(STREAM, newFacts(1), { expected })).toEqual({ status: 'conflict', actual: 2 });
    }
    await store(events, STREAM, newFacts(1), 2);
  });

  verify('event-store:append:conflict', async ({ store: events }) => {
    const facts = newFacts(2);
    await store(events, STREAM, facts, 'none');
    const refused = newFacts(4);
    expect(await events.append(STREAM, refused, { expected: 0 })).toEqual({ status: 'conflict', actual: 1 });
    expect(await events.append('session-_.missing', refused, { expected: 5 })).toMatchObject({ status: 'conflict' });
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(facts));
    expect(await events.read('session-_.missing')).toEqual({ facts: [], head: 'none' });
  });

  verify('event-store:append:one-winner', async ({ store: events }) => {
    await store(events, STREAM, newFacts(1), 'none');
    const batches = Array.from({ length: 20 }, () => newFacts(2));
    const results = await Promise.all(batches.map((facts) => events.append(STREAM, facts, { expected: 0 })));
    const winners = batches.filter((_, index) => results[index]?.status === 'stored');
    expect(winners).toHaveLength(1);
    for (const result of results) {
      if (result.status !== 'stored') expect(result).toEqual({ status: 'conflict', actual: 2 });
    }
    expect(idsOf(await readAll(events, STREAM)).slice(1)).toEqual(idsOf(winners.flat()));

    const first = await Promise.all(
      batches.map((facts) => events.append('session-_.new', facts, { expected: 'none' })),
    );
    expect(first.filter(({ status }) => status === 'stored')).toHaveLength(1);
  });

  verify('event-store:append:concurrent-streams', async ({ store: events }) => {
    await store(events, STREAM, newFacts(1), 'none');
    const appends: Promise<AppendResult>[] = [];
    for (let index = 0; index < 60; index++) {
      appends.push(events.append(`session-_.beside${index}`, newFacts(2), { expected: 'none' }));
      appends.push(events.append(STREAM, newFacts(1), { expected: 7 }));
    }
    const results = await Promise.all(appends);
    expect(results.filter(({ status }) => status === 'stored')).toHaveLength(60);
    expect(results.filter(({ status }) => status === 'conflict')).toHaveLength(60);
    for (let index = 0; index < 60; index++) {
      expect(await readAll(events, `session-_.beside${index}`)).toHaveLength(2);
    }
  });

  verify('event-store:append:stream-names', async ({ store: events }) => {
    const names = [
      'session-_.a',
      'session-_.A',
      'session-_.a ',
      'session-_.ä',
      'session-_.aa',
      'session-t.a',
      "a'b",
      '😀',
    ];
    for (const name of names) await store(events, name, [newFact({ payload: JSON.stringify(name) })], 'none');
    for (const name of names) {
      expect((await readAll(events, name)).map(({ payload, stream }) => [payload, stream])).toEqual([
        [JSON.stringify(name), name],
      ]);
    }
  });

  verify('event-store:append:input', async ({ store: events }) => {
    const good = newFact();
    const append = (stream: unknown, facts: unknown, expected: unknown) => () =>
      events.append(stream as string, facts as [], { expected: expected as 'none' });
    await expectInvalid('stream', append('', [good], 'none'));
    await expectInvalid('stream', append(7, [good], 'none'));
    await expectInvalid('facts', append(STREAM, [], 'none'));
    await expectInvalid('expected', append(STREAM, [good], -1));
    await expectInvalid('expected', append(STREAM, [good], 1.5));
    await expectInvalid('expected', append(STREAM, [good], 'any'));
    await expectInvalid('expected', append(STREAM, [good], undefined));
    await expectInvalid('facts[1].id', append(STREAM, [good, { ...good, id: 'not a uuid' }], 'none'));
    await expectInvalid('facts[0].type', append(STREAM, [{ ...good, type: '' }], 'none'));
    await expectInvalid('facts[0].payload', append(STREAM, [{ ...good, payload: { a: 1 } }], 'none'));
    await expectInvalid('facts[0].payload', append(STREAM, [{ ...good, payload: '"\ud800"' }], 'none'));
    await expectInvalid('facts[0].metadata', append(STREAM, [{ ...good, metadata: undefined }], 'none'));
    expect(await events.read(STREAM)).toEqual({ facts: [], head: 'none' });
  });
}
