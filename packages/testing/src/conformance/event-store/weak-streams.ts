import { draftStream, leaseStream } from '@perdure/events';
import { expect } from 'vitest';
import { seededRandom } from '@perdure/plugin-api';
import { idsOf, newFact, newFacts, readAll, recorded, store, withoutPosition } from '../facts.js';
import { follow, take } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAMS = [draftStream({ tenant: 'acme', id: 's1' }), leaseStream('node/1')];

/** Drafts and leases: the same verbs, which a store may keep elsewhere. */
export function verifyWeakStreams({ verify }: EventStoreSuite): void {
  verify('event-store:weak:same-verbs', async ({ store: events }) => {
    for (const stream of STREAMS) {
      const first = [newFact(), newFact({ detail: true, payload: '{"text":"ünï 😀"}' }), newFact()];
      const second = newFacts(2, { type: 'Wanted' });
      const follower = follow(events, { stream });
      await follower.caughtUp();
      const stored = await store(events, stream, first, 'none');
      expect(stored.revision).toBe(2);
      expect(await events.append(stream, newFacts(1), { expected: 'none' })).toEqual({ status: 'conflict', actual: 2 });
      const race = await Promise.all(
        [second, newFacts(1)].map((facts) => events.append(stream, facts, { expected: 2 })),
      );
      expect(race.map(({ status }) => status)).toEqual(['stored', 'conflict']);
      expect(await store(events, stream, first, 'none')).toEqual(stored);
      const all = [...first, ...second];
      expect(withoutPosition(await readAll(events, stream))).toEqual(recorded(stream, all));
      expect(idsOf(await readAll(events, stream, { omitDetail: true, limit: 1 }))).toEqual(
        idsOf(all.filter(({ detail }) => detail !== true)),
      );
      expect(idsOf(await readAll(events, stream, { direction: 'backwards', limit: 2 }))).toEqual(idsOf(all).reverse());
      await follower.until(({ facts }) => facts.length >= 5);
      expect(follower.facts).toEqual(await readAll(events, stream));
      await follower.leave();
      expect(idsOf(await take(events, { stream, after: 1 }, 2, { types: ['Wanted'] }))).toEqual(idsOf(second));
    }
  });

  verify('event-store:weak:one-order', async ({ store: events }) => {
    const names = ['session-_.s', 'draft-_.s', 'lease-n', 'budget-_.s'];
    const random = seededRandom(23);
    const heads = new Map<string, number>();
    const appended: string[] = [];
    // Long runs of one kind, and more of each kind than a store reads at once.
    for (let run = 0; run < 60; run++) {
      const name = names[Math.floor(random() * names.length)] ?? 'lease-n';
      const facts = Array.from({ length: 1 + Math.floor(random() * 40) }, () => newFact());
      const heading = heads.get(name);
      const results = facts.map((fact, index) => {
        const expected = heading === undefined ? index - 1 : heading + index;
        return store(events, name, [fact], expected < 0 ? 'none' : expected);
      });
      await Promise.all(results);
      heads.set(name, (heading ?? -1) + facts.length);
      appended.push(...idsOf(facts));
    }
    const follower = follow(events, { all: true });
    await follower.caughtUp();
    await follower.leave();
    expect(idsOf(follower.facts)).toEqual(appended);
    const positions = follower.facts.map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
    const middle = follower.facts[Math.floor(appended.length / 2)];
    const later = follow(events, { all: true, after: middle?.position ?? '' });
    await later.caughtUp();
    await later.leave();
    expect(idsOf(later.facts)).toEqual(appended.slice(Math.floor(appended.length / 2) + 1));
  });

  verify('event-store:weak:truncated', async ({ store: events }) => {
    const session = 'session-acme.s1';
    await store(events, session, newFacts(1), 'none');
    const watcher = follow(events, { all: true }, { categories: ['draft', 'lease', 'session'] });
    await watcher.caughtUp();
    const given = [...watcher.facts.map(({ id }) => id)];
    for (const stream of STREAMS) {
      let head: number | 'none' = 'none';
      for (let step = 0; step < 3; step++) {
        const facts = newFacts(4);
        for (const fact of facts) head = (await store(events, stream, [fact], head)).revision;
        expect(idsOf(await readAll(events, stream))).toEqual(idsOf(facts));
        given.push(...idsOf(facts));
        await watcher.until((state) => state.facts.length >= given.length);
        await events.truncate(stream, (head as number) + 1);
        expect(await events.read(stream)).toEqual({ facts: [], head });
        expect(await events.append(stream, newFacts(1), { expected: 'none' })).toEqual({
          status: 'conflict',
          actual: head,
        });
      }
      expect(head).toBe(11);
    }
    const last = await store(events, session, newFacts(1), 0);
    await watcher.until((state) => state.facts.at(-1)?.position === last.position);
    expect(idsOf(watcher.facts).slice(0, -1)).toEqual(given);
    const positions = watcher.facts.map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
    expect(new Set(positions).size).toBe(positions.length);
    await watcher.leave();
  });
}
