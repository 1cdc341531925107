import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { idsOf, newFact, newFacts, readAll, store } from '../facts.js';
import { follow, take } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.subscribe';

/** Subscribe: the past, what comes, filters, and where to go on. */
export function verifySubscribe({ verify }: EventStoreSuite): void {
  verify('event-store:subscribe:stream', async ({ store: events }) => {
    const past = newFacts(4);
    await store(events, STREAM, past, 'none');
    await store(events, 'session-_.other', newFacts(3), 'none');
    const follower = follow(events, { stream: STREAM });
    await follower.caughtUp();
    expect(follower.facts).toEqual(await readAll(events, STREAM));
    const live = newFacts(2, { detail: true });
    await store(events, STREAM, live, 3);
    await store(events, 'session-_.other', newFacts(1), 2);
    await store(events, STREAM, newFacts(1), 5);
    await follower.until(({ facts }) => facts.length >= 7);
    expect(follower.facts).toEqual(await readAll(events, STREAM));
    await follower.leave();
  });

  verify('event-store:subscribe:store', async ({ store: events }) => {
    const follower = follow(events, { all: true });
    await store(events, 'session-_.a', newFacts(2), 'none');
    await store(events, 'budget-_.b', newFacts(1), 'none');
    await follower.caughtUp();
    await store(events, 'session-_.a', newFacts(3), 1);
    await store(events, 'budget-_.b', newFacts(1), 0);
    await follower.until(({ facts }) => facts.length >= 7);
    await follower.leave();
    const places = follower.facts.map(({ stream, revision }) => `${stream}@${revision}`);
    const expected = ['a@0', 'a@1', 'b@0', 'a@2', 'a@3', 'a@4', 'b@1'];
    expect(places.map((place) => place.slice(place.indexOf('.') + 1))).toEqual(expected);
    const positions = follower.facts.map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
    const read = [...(await readAll(events, 'session-_.a')), ...(await readAll(events, 'budget-_.b'))];
    expect(follower.facts.toSorted(byPlace)).toEqual(read.toSorted(byPlace));
  });

  verify('event-store:subscribe:caught-up', async ({ store: events }) => {
    const empty = follow(events, { all: true });
    await empty.until(({ batches }) => batches.length >= 1);
    expect(empty.batches[0]).toMatchObject({ facts: [], caughtUp: true });
    await empty.leave();

    const facts = newFacts(5);
    await store(events, STREAM, facts, 'none');
    for (const source of [{ stream: STREAM }, { all: true }] as const) {
      const follower = follow(events, source);
      await follower.caughtUp();
      expect(idsOf(follower.facts)).toEqual(idsOf(facts));
      expect(follower.batches.slice(0, -1).every(({ caughtUp }) => !caughtUp)).toBe(true);
      await follower.leave();
    }
    // More than any store gives at once.
    let head = 4;
    while (head < 2_500)
      head = (await store(events, STREAM, newFacts(Math.min(events.limits.maxBatch, 200)), head)).revision;
    for (const source of [{ stream: STREAM }, { all: true }] as const) {
      const follower = follow(events, source);
      await follower.caughtUp();
      expect(follower.facts).toHaveLength(head + 1);
      await follower.leave();
    }
    const behind = follow(events, { stream: STREAM, after: head });
    await behind.until(({ batches }) => batches.length >= 1);
    expect(behind.batches[0]).toMatchObject({ facts: [], caughtUp: true });
    await behind.leave();
  });

  verify('event-store:subscribe:missing-stream', async ({ store: events }) => {
    const follower = follow(events, { stream: STREAM });
    await follower.caughtUp();
    expect(follower.facts).toEqual([]);
    const facts = newFacts(2);
    await store(events, STREAM, facts, 'none');
    await follower.until((state) => state.facts.length >= 2);
    expect(idsOf(follower.facts)).toEqual(idsOf(facts));
    await follower.leave();
  });

  verify('event-store:subscribe:categories', async ({ store: events }) => {
    const categories = ['session', 'artifact'];
    const follower = follow(events, { all: true }, { categories });
    await store(events, 'session-_.a', newFacts(2), 'none');
    await store(events, 'budget-_.a', newFacts(2), 'none');
    await follower.caughtUp();
    for (const stream of ['budget-_.b', 'artifact-_.a', 'sessions-_.a', 'session', 'lease-n', 'session-t.b-c']) {
      await store(events, stream, newFacts(1), 'none');
    }
    await follower.until(({ facts }) => facts.length >= 5);
    await follower.leave();
    const expected = ['session-_.a', 'session-_.a', 'artifact-_.a', 'session', 'session-t.b-c'];
    expect(follower.facts.map(({ stream }) => stream)).toEqual(expected);
    expect((await take(events, { all: true }, 5, { categories })).map(({ stream }) => stream)).toEqual(expected);
  });

  verify('event-store:subscribe:types', async ({ store: events }) => {
    const types = ['Wanted', 'AlsoWanted'];
    const followers = [follow(events, { all: true }, { types }), follow(events, { stream: STREAM }, { types })];
    const wanted: string[] = [];
    let head: number | 'none' = 'none';
    for (let round = 0; round < 30; round++) {
      if (round === 10) for (const follower of followers) await follower.caughtUp();
      const facts = ['Unwanted', 'Wanted!', 'Want'].map((type) => newFact({ type }));
      if (round % 3 === 0) facts.splice(1, 0, newFact({ type: 'Wanted', detail: true }));
      if (round % 7 === 0) facts.push(newFact({ type: 'AlsoWanted' }));
      wanted.push(...idsOf(facts.filter(({ type }) => types.includes(type))));
      head = (await store(events, STREAM, facts, head)).revision;
    }
    for (const follower of followers) {
      await follower.until(({ facts }) => facts.length >= wanted.length);
      await follower.leave();
      expect(idsOf(follower.facts)).toEqual(wanted);
    }
    const all = await readAll(events, STREAM);
    expect(followers[0]?.facts).toEqual(all.filter(({ type }) => types.includes(type)));
  });

  verify('event-store:subscribe:types-in-past', async ({ store: events }) => {
    // More batches, and more facts, than any store gives at once.
    const batches = Array.from({ length: 600 }, () => newFacts(4, { type: 'Wanted' }));
    await Promise.all(
      batches.map((facts, index) => store(events, STREAM, facts, index === 0 ? 'none' : index * 4 - 1)),
    );
    const wanted = idsOf(batches.flat());
    let head = wanted.length - 1;
    for (const source of [{ stream: STREAM }, { all: true }] as const) {
      const follower = follow(events, source, { types: ['Wanted'] });
      await follower.until(({ batches }) => batches.length >= 1);
      while (follower.batches.at(-1)?.caughtUp === false) {
        head = (await store(events, STREAM, newFacts(1, { type: 'Unwanted' }), head)).revision;
        const seen = follower.batches.length;
        await follower.until(({ batches }) => batches.length > seen);
      }
      await follower.leave();
      expect(idsOf(follower.facts)).toEqual(wanted);
    }
  });

  verify('event-store:subscribe:resume-stream', async ({ store: events }) => {
    await store(events, STREAM, newFacts(3), 'none');
    await store(events, STREAM, newFacts(1), 2);
    await store(events, STREAM, newFacts(4), 3);
    const all = await readAll(events, STREAM);
    for (let after = 0; after < 7; after++) {
      expect(await take(events, { stream: STREAM, after }, 7 - after)).toEqual(all.slice(after + 1));
    }
    const ahead = follow(events, { stream: STREAM, after: 9 });
    await ahead.caughtUp();
    const later = newFacts(4);
    await store(events, STREAM, later, 7);
    await ahead.until(({ facts }) => facts.length >= 2);
    expect(idsOf(ahead.facts)).toEqual(idsOf(later.slice(2)));
    await ahead.leave();
  });

  verify('event-store:subscribe:resume-store', async ({ store: events }) => {
    await store(events, 'session-_.a', newFacts(3), 'none');
    await store(events, 'budget-_.b', newFacts(2), 'none');
    await store(events, 'session-_.a', newFacts(4), 2);
    const all = await take(events, { all: true }, 9);
    for (const [index, { position }] of all.entries()) {
      const follower = follow(events, { all: true, after: position });
      await follower.caughtUp();
      await follower.leave();
      expect(follower.facts).toEqual(all.slice(index + 1));
    }
  });

  verify('event-store:subscribe:position', async ({ store: events }) => {
    await store(events, 'session-_.a', [newFact({ type: 'Wanted' }), newFact()], 'none');
    await store(events, 'budget-_.b', newFacts(20), 'none');
    const filters = [{ types: ['Wanted'] }, { categories: ['session'] }, { categories: ['nothing'] }];
    for (const options of filters) {
      const follower = follow(events, { all: true }, options);
      await follower.caughtUp();
      await follower.leave();
      const after = follower.batches.at(-1)?.position;
      if (after === undefined) throw new Error('The last batch of the past has no position.');
      const next = follow(events, { all: true, after });
      await next.caughtUp();
      expect(next.facts).toEqual([]);
      await store(events, `session-_.${options.types?.[0] ?? options.categories?.[0]}`, newFacts(1), 'none');
      await next.until(({ facts }) => facts.length >= 1);
      expect(next.facts).toHaveLength(1);
      await next.leave();
    }
  });

  verify('event-store:subscribe:input', async ({ store: events }) => {
    const subscribe = (source: object, options?: object) => async () => {
      const iterator = events.subscribe(source as { all: true }, options)[Symbol.asyncIterator]();
      await iterator.next();
      await iterator.return?.();
    };
    await store(events, STREAM, newFacts(1), 'none');
    await expectInvalid('stream', subscribe({ stream: '' }));
    for (const after of [-1, 1.5, '0']) await expectInvalid('after', subscribe({ stream: STREAM, after }));
    for (const after of ['', 'x', 7]) await expectInvalid('after', subscribe({ all: true, after }));
    await expectInvalid('types', subscribe({ all: true }, { types: 'Happened' }));
    await expectInvalid('categories', subscribe({ all: true }, { categories: [1] }));
  });
}

function byPlace(a: { stream: string; revision: number }, b: { stream: string; revision: number }): number {
  return a.stream === b.stream ? a.revision - b.revision : a.stream < b.stream ? -1 : 1;
}
