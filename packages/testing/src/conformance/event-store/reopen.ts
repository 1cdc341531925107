import type { EventStore } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { idsOf, newFact, newFacts, readAll, store } from '../facts.js';
import { follow, take } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.place';
const DRAFT = 'draft-_.place';

/** What the capabilities `shared` and `durable` promise. */
export function verifyReopen({ verify }: EventStoreSuite): void {
  verify('event-store:shared:read', async ({ store: first, openSecond }) => {
    const second = await openSecond();
    const facts = newFacts(3);
    await store(first, STREAM, facts.slice(0, 1), 'none');
    expect(idsOf(await readAll(second, STREAM))).toEqual(idsOf(facts.slice(0, 1)));
    await store(second, STREAM, facts.slice(1, 2), 0);
    await store(first, STREAM, facts.slice(2), 1);
    expect(idsOf(await readAll(second, STREAM))).toEqual(idsOf(facts));
    expect(await second.append(STREAM, newFacts(1), { expected: 0 })).toEqual({ status: 'conflict', actual: 2 });
    expect(await store(second, STREAM, facts.slice(0, 1), 'none')).toMatchObject({ revision: 0 });
    await second.truncate(STREAM, 2);
    expect(idsOf(await readAll(first, STREAM))).toEqual(idsOf(facts.slice(2)));
  });

  verify('event-store:shared:follow', async ({ store: first, openSecond }) => {
    const second = await openSecond();
    const followers = [
      follow(first, { stream: STREAM }),
      follow(first, { all: true }),
      follow(first, { all: true }, { types: ['Rare'] }),
      follow(first, { stream: DRAFT }),
    ];
    for (const follower of followers) await follower.caughtUp();
    const facts = newFacts(40, { type: 'Usual' });
    facts[33] = newFact({ type: 'Rare' });
    for (const [index, fact] of facts.entries()) {
      await store(index % 3 === 0 ? first : second, STREAM, [fact], index === 0 ? 'none' : index - 1);
    }
    const draft = newFacts(2);
    await store(second, DRAFT, draft, 'none');
    await followers[0]?.until((state) => state.facts.length >= 40);
    await followers[1]?.until((state) => state.facts.length >= 42);
    await followers[2]?.until((state) => state.facts.length >= 1);
    await followers[3]?.until((state) => state.facts.length >= 2);
    expect(followers.map((follower) => idsOf(follower.facts))).toEqual([
      idsOf(facts),
      idsOf([...facts, ...draft]),
      idsOf(facts.slice(33, 34)),
      idsOf(draft),
    ]);
    for (const follower of followers) await follower.leave();
  });

  verify('event-store:shared:between', async ({ store: first, openSecond }) => {
    const second = await openSecond();
    const followed = follow(first, { stream: STREAM }, { types: ['Wanted'] });
    const all = follow(first, { all: true }, { types: ['Wanted'] });
    await followed.caughtUp();
    await all.caughtUp();
    for (let round = 0; round < 20; round++) {
      await store(second, STREAM, [newFact({ type: 'Wanted' })], round === 0 ? 'none' : round - 1);
      await store(first, 'session-_.beside', newFacts(1), round === 0 ? 'none' : round - 1);
      await followed.until(({ facts }) => facts.length > round);
      await all.until(({ facts }) => facts.length > round);
    }
    for (const follower of [followed, all]) {
      expect(follower.facts).toEqual(await readAll(first, STREAM));
      await follower.leave();
    }
  });

  verify('event-store:shared:writers', async ({ store: first, openSecond }) => {
    const second = await openSecond();
    const mine = new Set<string>();
    let conflicts = 0;
    const write = async (events: EventStore, count: number): Promise<void> => {
      let expected: number | 'none' = 'none';
      for (let index = 0; index < count; index++) {
        const facts = newFacts(1 + (index % 3));
        for (;;) {
          const result = await events.append(STREAM, facts, { expected });
          if (result.status === 'stored') {
            expected = result.revision;
            break;
          }
          if (result.status !== 'conflict') throw new Error(JSON.stringify(result));
          conflicts += 1;
          expected = result.actual;
        }
        for (const id of idsOf(facts)) mine.add(id);
        // A pause lets the other writer in, so that both meet.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([write(first, 150), write(second, 150)]);
    expect(conflicts).toBeGreaterThan(0);
    for (const events of [first, second]) {
      const facts = await readAll(events, STREAM);
      expect(facts.map(({ revision }) => revision)).toEqual(facts.map((_, index) => index));
      expect(new Set(idsOf(facts))).toEqual(mine);
      expect(facts).toHaveLength(mine.size);
    }
    expect(await take(second, { all: true }, mine.size)).toEqual(await readAll(first, STREAM));
  });

  verify('event-store:durable:reopen', async ({ store: events, reopen }) => {
    await store(events, STREAM, newFacts(3), 'none');
    await store(events, 'budget-_.other', newFacts(5), 'none');
    await store(events, STREAM, newFacts(2), 2);
    await store(events, DRAFT, newFacts(2), 'none');
    await events.truncate(STREAM, 1);
    await events.truncate('budget-_.other', 5);
    const before = [await readAll(events, STREAM), await readAll(events, DRAFT)];
    const last =
      before
        .flat()
        .map(({ position }) => position)
        .toSorted()
        .at(-1) ?? '';
    await events.close();

    const again = await reopen();
    expect([await readAll(again, STREAM), await readAll(again, DRAFT)]).toEqual(before);
    expect(await again.read('budget-_.other')).toEqual({ facts: [], head: 4 });
    expect(await again.append(STREAM, newFacts(1), { expected: 'none' })).toEqual({ status: 'conflict', actual: 4 });
    const later = await store(again, STREAM, newFacts(1), 4);
    expect(later.revision).toBe(5);
    expect(later.position > last).toBe(true);
    expect((await take(again, { all: true, after: last }, 1)).map(({ position }) => position)).toEqual([
      later.position,
    ]);
  });

  verify('event-store:durable:repeat', async ({ store: events, reopen }) => {
    const facts = newFacts(2);
    const stored = await store(events, STREAM, facts, 'none');
    await store(events, STREAM, newFacts(2), 1);
    await events.close();
    const again = await reopen();
    expect(await store(again, STREAM, facts, 'none')).toEqual(stored);
    expect(await again.append(STREAM, newFacts(2), { expected: 'none' })).toEqual({ status: 'conflict', actual: 3 });
    expect(await readAll(again, STREAM)).toHaveLength(4);
  });
}
