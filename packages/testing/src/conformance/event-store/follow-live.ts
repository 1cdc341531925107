import { expect } from 'vitest';
import { seededRandom } from '@perdure/plugin-api';
import { idsOf, newFact, newFacts, readAll, store } from '../facts.js';
import { follow, type Follower } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.live';
const APPENDS = 1_200;

/** Subscribe beside a busy writer, and how a subscription ends. */
export function verifyFollowLive({ verify }: EventStoreSuite): void {
  verify('event-store:subscribe:hand-over', async ({ store: events }) => {
    const random = seededRandom(7);
    const streams = [STREAM, 'session-_.second', 'budget-_.third'];
    const heads = new Map<string, number>();
    const started: { readonly done: Promise<void>; readonly check: () => Promise<void> }[] = [];
    let stored = 0;

    const startFollower = (stream: string | undefined, types: readonly string[] | undefined): void => {
      const follower = follow(events, stream === undefined ? { all: true } : { stream }, types && { types });
      const last = (facts: Follower): boolean => facts.facts.some(({ type }) => type === `Last ${stream ?? 'all'}`);
      started.push({
        done: follower.until(last).then(() => follower.leave()),
        check: async () => {
          const all = (await Promise.all(streams.map((name) => readAll(events, name)))).flat();
          const wanted = all
            .filter((fact) => stream === undefined || fact.stream === stream)
            .filter(({ type }) => types === undefined || types.includes(type))
            .toSorted((a, b) => (a.position < b.position ? -1 : 1));
          expect(idsOf(follower.facts)).toEqual(idsOf(wanted));
          expect(follower.facts).toEqual(wanted);
        },
      });
    };

    const append = async (stream: string, types: readonly string[]): Promise<void> => {
      const head = heads.get(stream);
      const facts = types.map((type) => newFact({ type }));
      heads.set(stream, (await store(events, stream, facts, head ?? 'none')).revision);
      stored += facts.length;
    };

    for (let index = 0; index < APPENDS; index++) {
      const stream = streams[Math.floor(random() * streams.length)] ?? STREAM;
      await append(
        stream,
        Array.from({ length: 1 + Math.floor(random() * 4) }, () => (random() < 0.2 ? 'Rare' : 'Usual')),
      );
      if (random() < 0.02 && started.length < 12) {
        const followed = random() < 0.5 ? undefined : stream;
        startFollower(followed, random() < 0.5 ? undefined : ['Rare', `Last ${followed ?? 'all'}`]);
      }
      // Gives followers a turn now and then only, so that some are far behind and some are close.
      if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(started.length).toBeGreaterThan(6);
    expect(stored).toBeGreaterThan(2_000);
    for (const stream of streams) await append(stream, [`Last ${stream}`]);
    await append(STREAM, ['Last all']);
    for (const { done, check } of started) {
      await done;
      await check();
    }
  });

  verify('event-store:subscribe:abort', async ({ store: events }) => {
    await store(events, STREAM, newFacts(3), 'none');
    for (const source of [{ stream: STREAM }, { all: true }] as const) {
      const before = follow(events, source, { signal: AbortSignal.abort() });
      await before.end();
      expect(before.facts).toEqual([]);

      const inPast = new AbortController();
      const past = follow(events, source, { signal: inPast.signal });
      await past.until(({ batches }) => batches.length >= 1);
      inPast.abort();
      await past.end();

      const whileWaiting = new AbortController();
      const waiting = follow(events, source, { signal: whileWaiting.signal });
      await waiting.caughtUp();
      const end = waiting.end();
      setImmediate(() => whileWaiting.abort());
      await end;
      expect(waiting.facts).toHaveLength(3);
    }
  });

  verify('event-store:subscribe:leave', async ({ store: events }) => {
    const stays = follow(events, { stream: STREAM });
    const leaves = events.subscribe({ stream: STREAM })[Symbol.asyncIterator]();
    await leaves.next();
    await stays.caughtUp();
    const pending = leaves.next();
    await leaves.return?.();
    expect((await pending).done).toBe(true);
    const facts = newFacts(2);
    await store(events, STREAM, facts, 'none');
    await stays.until((state) => state.facts.length >= 2);
    expect(idsOf(stays.facts)).toEqual(idsOf(facts));
    for await (const batch of events.subscribe({ all: true })) {
      expect(batch.facts.length).toBeLessThanOrEqual(2);
      break;
    }
    await stays.leave();
  });
}
