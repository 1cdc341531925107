import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { idsOf, newFacts, readAll, store } from '../facts.js';
import { follow } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.truncate';

/** Truncate, and the streams that are truncated all the time: drafts and leases. */
export function verifyTruncate({ verify }: EventStoreSuite): void {
  verify('event-store:truncate:cut', async ({ store: events }) => {
    const facts = [...newFacts(3), ...newFacts(2), ...newFacts(4)];
    await store(events, STREAM, facts.slice(0, 3), 'none');
    await store(events, STREAM, facts.slice(3, 5), 2);
    await store(events, STREAM, facts.slice(5), 4);
    for (const before of [1, 3, 4, 5, 7, 8]) {
      await events.truncate(STREAM, before);
      for (const limit of [1, 2, 100]) {
        expect(idsOf(await readAll(events, STREAM, { limit }))).toEqual(idsOf(facts.slice(before)));
        expect(idsOf(await readAll(events, STREAM, { limit, direction: 'backwards' }))).toEqual(
          idsOf(facts.slice(before)).reverse(),
        );
      }
      const page = await events.read(STREAM, { from: 0, limit: 1 });
      expect(page.facts.map(({ revision }) => revision)).toEqual([before]);
      expect(await events.read(STREAM, { from: before - 1, direction: 'backwards' })).toEqual({ facts: [], head: 8 });
    }
  });

  verify('event-store:truncate:head', async ({ store: events }) => {
    await store(events, STREAM, newFacts(3), 'none');
    await store(events, 'session-_.beside', newFacts(1), 'none');
    await events.truncate(STREAM, 3);
    expect(await events.read(STREAM)).toEqual({ facts: [], head: 2 });
    expect(await events.append(STREAM, newFacts(1), { expected: 'none' })).toEqual({ status: 'conflict', actual: 2 });
    expect(await events.append(STREAM, newFacts(1), { expected: 1 })).toEqual({ status: 'conflict', actual: 2 });
    const position = (await store(events, 'session-_.beside', newFacts(1), 0)).position;
    const later = await store(events, STREAM, newFacts(2), 2);
    expect(later.revision).toBe(4);
    expect(later.position > position).toBe(true);
    expect((await readAll(events, STREAM)).map(({ revision }) => revision)).toEqual([3, 4]);
  });

  verify('event-store:truncate:follow', async ({ store: events }) => {
    const facts = newFacts(6);
    await store(events, STREAM, facts.slice(0, 2), 'none');
    await store(events, STREAM, facts.slice(2, 6), 1);
    const early = follow(events, { stream: STREAM });
    await early.caughtUp();
    await events.truncate(STREAM, 4);
    const late = follow(events, { stream: STREAM, after: 0 });
    await late.caughtUp();
    expect(idsOf(late.facts)).toEqual(idsOf(facts.slice(4)));
    await events.truncate(STREAM, 6);
    const more = newFacts(2);
    await store(events, STREAM, more, 5);
    await early.until((state) => state.facts.length >= 8);
    await late.until((state) => state.facts.length >= 4);
    expect(idsOf(early.facts)).toEqual(idsOf([...facts, ...more]));
    expect(idsOf(late.facts)).toEqual(idsOf([...facts.slice(4), ...more]));
    await early.leave();
    await late.leave();

    const all = follow(events, { all: true });
    await all.caughtUp();
    await all.leave();
    const kept = all.facts.filter(({ revision }) => revision >= 6);
    expect(idsOf(kept)).toEqual(idsOf(more));
    const positions = all.facts.map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
  });

  verify('event-store:truncate:harmless', async ({ store: events }) => {
    const facts = newFacts(4);
    await store(events, STREAM, facts, 'none');
    await events.truncate(STREAM, 0);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(facts));
    await events.truncate(STREAM, 2);
    await events.truncate(STREAM, 2);
    await events.truncate(STREAM, 1);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(facts.slice(2)));
    await events.truncate(STREAM, 1_000);
    const more = newFacts(1);
    await store(events, STREAM, more, 3);
    expect(idsOf(await readAll(events, STREAM))).toEqual(idsOf(more));
    await events.truncate('session-_.missing', 5);
    expect(await events.read('session-_.missing')).toEqual({ facts: [], head: 'none' });
    await store(events, 'session-_.missing', newFacts(1), 'none');
  });

  verify('event-store:truncate:input', async ({ store: events }) => {
    await store(events, STREAM, newFacts(2), 'none');
    await expectInvalid('stream', () => events.truncate('', 1));
    for (const before of [-1, 0.5, Number.NaN, '1']) {
      await expectInvalid('before', () => events.truncate(STREAM, before as number));
    }
    expect(await readAll(events, STREAM)).toHaveLength(2);
  });
}
