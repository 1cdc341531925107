import { once } from 'node:events';
import type { NewFact } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { faultyEventStore, type StoreFault } from './faulty-event-store.js';
import { journalStore } from './journal-store.fixture.js';

const SESSION = 'session-_.s1';
let ids = 0;
const fact = (type: string): NewFact => ({ id: `id-${++ids}`, type, payload: '{}', metadata: '{}' });

function storeWith(...plan: readonly StoreFault[]) {
  const lines: string[] = [];
  return {
    store: faultyEventStore(
      journalStore((line) => lines.push(line)),
      plan,
    ),
    lines,
  };
}

describe('a faulty event store', () => {
  test('without a plan is the store', async () => {
    const { store, lines } = storeWith();
    expect(await store.append(SESSION, [fact('A')], { expected: 'none' })).toMatchObject({ status: 'stored' });
    expect(await store.append(SESSION, [fact('A')], { expected: 'none' })).toEqual({ status: 'conflict', actual: 0 });
    expect((await store.read(SESSION)).facts.map(({ type }) => type)).toEqual(['A']);
    await store.truncate(SESSION, 1);
    expect(lines).toEqual([`stored ${SESSION} A`, `truncated ${SESSION} 1`]);
    expect([store.name, store.capabilities, store.limits.maxBatch]).toEqual([
      'journal',
      { shared: false, durable: false },
      100,
    ]);
  });

  test('stores a batch and does not tell', async () => {
    const { store, lines } = storeWith({ verb: 'append', fault: 'ambiguous', stored: true, occurrence: 1 });
    expect(await store.append(SESSION, [fact('A')], { expected: 'none' })).toMatchObject({ status: 'ambiguous' });
    expect(lines).toEqual([`stored ${SESSION} A`]);
    expect(await store.append(SESSION, [fact('B')], { expected: 0 })).toMatchObject({ status: 'stored' });
  });

  test('does not store a batch and does not tell', async () => {
    const { store, lines } = storeWith({ verb: 'append', fault: 'ambiguous', stored: false, occurrence: 1 });
    expect(await store.append(SESSION, [fact('A')], { expected: 'none' })).toMatchObject({ status: 'ambiguous' });
    expect(lines).toEqual([]);
  });

  test('tells a conflict, also where an answer would get lost', async () => {
    const { store } = storeWith({ verb: 'append', fault: 'ambiguous', stored: true, occurrence: 1 });
    const result = await store.append(SESSION, [fact('A')], { expected: 5 });
    expect(result).toEqual({ status: 'conflict', actual: 'none' });
  });

  test('fails at the planned calls and at no other', async () => {
    const { store, lines } = storeWith(
      { verb: 'append', fault: 'unavailable', match: 'A', category: 'session', occurrence: 2, times: 2 },
      { verb: 'read', fault: 'unavailable', occurrence: 1 },
      { verb: 'truncate', fault: 'unavailable', category: 'draft', occurrence: 1 },
    );
    const unavailable = { code: 'PERDURE_STORE_UNAVAILABLE' };
    await store.append('draft-_.s1', [fact('A')], { expected: 'none' });
    await store.append(SESSION, [fact('A')], { expected: 'none' });
    await store.append(SESSION, [fact('B')], { expected: 0 });
    await expect(store.append(SESSION, [fact('A')], { expected: 1 })).rejects.toMatchObject(unavailable);
    await expect(store.append(SESSION, [fact('A'), fact('B')], { expected: 1 })).rejects.toMatchObject(unavailable);
    await store.append(SESSION, [fact('A')], { expected: 1 });
    await expect(store.read(SESSION)).rejects.toMatchObject(unavailable);
    expect((await store.read(SESSION)).head).toBe(2);
    await store.truncate(SESSION, 1);
    await expect(store.truncate('draft-_.s1', 1)).rejects.toMatchObject(unavailable);
    expect(lines).toHaveLength(5);
  });

  test('holds a call back, before it is made or before it is answered', async () => {
    for (const behind of [false, true]) {
      const release = new AbortController();
      const wait = async () => void (await once(release.signal, 'abort'));
      const { store, lines } = storeWith({ verb: 'append', fault: 'wait', wait, behind, occurrence: 1 });
      let answered = false;
      const append = store.append(SESSION, [fact('A')], { expected: 'none' }).finally(() => (answered = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect([lines.length, answered]).toEqual([behind ? 1 : 0, false]);
      release.abort();
      expect(await append).toMatchObject({ status: 'stored' });
    }
  });

  test('waits for milliseconds too', async () => {
    const { store } = storeWith({ verb: 'read', fault: 'wait', wait: 1, occurrence: 1 });
    expect((await store.read(SESSION)).head).toBe('none');
  });

  test.each([
    ['plan.0.occurrence', { verb: 'read', fault: 'unavailable', occurrence: 0 }],
    ['plan.0.times', { verb: 'read', fault: 'unavailable', occurrence: 1, times: 0.5 }],
  ] as const)('with a plan that is wrong at %s is refused by that name', (field, fault) => {
    expect(() => storeWith(fault)).toThrow(field);
  });
});
