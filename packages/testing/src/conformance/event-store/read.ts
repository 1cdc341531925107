import type { EventStore, NewFact, ReadOptions } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { idsOf, newFact, newFacts, readAll, store } from '../facts.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.read';

/** Read: pages in both directions, what is left out, abort and what is refused. */
export function verifyRead({ verify }: EventStoreSuite): void {
  verify('event-store:read:missing', async ({ store: events }) => {
    await store(events, 'session-_.present', newFacts(1), 'none');
    for (const options of [{}, { from: 3 }, { direction: 'backwards' }, { limit: 1, omitDetail: true }] as const) {
      expect(await events.read('session-_.missing', options)).toEqual({ facts: [], head: 'none' });
    }
  });

  verify('event-store:read:forwards', async ({ store: events }) => {
    const facts = await storeBatches(events, [1, 4, 2, 3, 1, 1, 5]);
    for (const limit of [1, 2, 3, 5, 7, 16, 17, 18, 400]) {
      expect(idsOf(await readAll(events, STREAM, { limit }))).toEqual(idsOf(facts));
    }
    const whole = await events.read(STREAM, { direction: 'forwards', limit: facts.length });
    expect(whole.facts).toHaveLength(facts.length);
    expect(whole.next).toBeUndefined();
    expect(await events.read(STREAM, { from: facts.length })).toEqual({ facts: [], head: facts.length - 1 });
  });

  verify('event-store:read:backwards', async ({ store: events }) => {
    const facts = await storeBatches(events, [2, 1, 4, 1, 3, 5]);
    const reversed = idsOf(facts).reverse();
    for (const limit of [1, 2, 3, 5, 15, 16, 17, 400]) {
      expect(idsOf(await readAll(events, STREAM, { direction: 'backwards', limit }))).toEqual(reversed);
    }
    const last = await events.read(STREAM, { direction: 'backwards', limit: 1 });
    expect(last.facts.map(({ revision }) => revision)).toEqual([facts.length - 1]);
    expect(last.next).toBe(facts.length - 2);
    const whole = await events.read(STREAM, { direction: 'backwards', limit: facts.length });
    expect(whole.next).toBeUndefined();
  });

  verify('event-store:read:from', async ({ store: events }) => {
    const facts = await storeBatches(events, [3, 1, 4, 2]);
    for (let from = 0; from < facts.length; from++) {
      expect(idsOf(await readAll(events, STREAM, { from }))).toEqual(idsOf(facts.slice(from)));
      expect(idsOf(await readAll(events, STREAM, { from, direction: 'backwards' }))).toEqual(
        idsOf(facts.slice(0, from + 1)).reverse(),
      );
      const one = await events.read(STREAM, { from, limit: 1 });
      expect(one.facts.map(({ revision, id }) => [revision, id])).toEqual([[from, facts[from]?.id]]);
    }
    expect((await events.read(STREAM, { from: 1_000 })).facts).toEqual([]);
    expect(idsOf(await readAll(events, STREAM, { from: 1_000, direction: 'backwards' }))).toEqual(
      idsOf(facts).reverse(),
    );
  });

  verify('event-store:read:bounded', async ({ store: events }) => {
    const batch = Math.min(events.limits.maxBatch, 100);
    const facts = await storeBatches(events, [...Array.from({ length: Math.ceil(1_100 / batch) }, () => batch), 1]);
    for (const direction of ['forwards', 'backwards'] as const) {
      const page = await events.read(STREAM, { direction });
      expect(page.facts.length).toBeGreaterThan(0);
      expect(page.facts.length).toBeLessThanOrEqual(1_000);
      expect(page.next).toBeDefined();
      expect(await readAll(events, STREAM, { direction })).toHaveLength(facts.length);
      expect((await events.read(STREAM, { direction, limit: 7 })).facts.length).toBeLessThanOrEqual(7);
    }
  });

  verify('event-store:read:head', async ({ store: events }) => {
    const facts = await storeBatches(events, [2, 3]);
    for (const options of [{}, { limit: 1 }, { from: 4 }, { from: 9 }, { direction: 'backwards', from: 0 }] as const) {
      expect((await events.read(STREAM, options)).head).toBe(facts.length - 1);
    }
    await store(events, STREAM, newFacts(1), 4);
    expect((await events.read(STREAM, { limit: 1 })).head).toBe(5);
  });

  verify('event-store:read:omit-detail', async ({ store: events }) => {
    const pattern = [[0], [1], [1, 1], [0, 1, 0], [1, 0, 1, 1], [0], [1, 1, 1], [1]];
    const facts: NewFact[] = [];
    for (const batch of pattern) {
      const made = batch.map((detail) => newFact(detail === 1 ? { detail: true } : {}));
      await store(events, STREAM, made, facts.length === 0 ? 'none' : facts.length - 1);
      facts.push(...made);
    }
    const kept = facts.flatMap(({ id, detail }, revision) => (detail === true ? [] : [{ id, revision }]));
    const read = async (options: ReadOptions): Promise<{ id: string; revision: number }[]> =>
      (await readAll(events, STREAM, { ...options, omitDetail: true })).map(({ id, revision }) => ({ id, revision }));
    for (const limit of [1, 2, 3, 4, 100]) {
      expect(await read({ limit })).toEqual(kept);
      expect(await read({ limit, direction: 'backwards' })).toEqual(kept.toReversed());
    }
    for (let from = 0; from < facts.length; from++) {
      expect(await read({ from })).toEqual(kept.filter(({ revision }) => revision >= from));
    }
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(facts));
    expect((await events.read(STREAM, { omitDetail: true })).head).toBe(facts.length - 1);
  });

  verify('event-store:read:abort', async ({ store: events }) => {
    await storeBatches(events, [2]);
    const reason = new Error('the caller left');
    await expect(events.read(STREAM, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect((await events.read(STREAM, { signal: new AbortController().signal })).facts).toHaveLength(2);
  });

  verify('event-store:read:input', async ({ store: events }) => {
    await storeBatches(events, [2]);
    const read = (stream: unknown, options: object) => () => events.read(stream as string, options);
    await expectInvalid('stream', read('', {}));
    await expectInvalid('stream', read(undefined, {}));
    for (const from of [-1, 0.5, Number.NaN, '1']) await expectInvalid('from', read(STREAM, { from }));
    for (const limit of [0, -1, 2.5, '5']) await expectInvalid('limit', read(STREAM, { limit }));
    await expectInvalid('direction', read(STREAM, { direction: 'sideways' }));
  });
}

async function storeBatches(events: EventStore, sizes: readonly number[]): Promise<NewFact[]> {
  const facts: NewFact[] = [];
  for (const size of sizes) {
    const batch = newFacts(size);
    await store(events, STREAM, batch, facts.length === 0 ? 'none' : facts.length - 1);
    facts.push(...batch);
  }
  return facts;
}
