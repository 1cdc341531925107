import { setTimeout } from 'node:timers/promises';
import type { EventStore, ExpectedRevision } from '@perdure/plugin-api';
import { seededRandom, startPostgresServer } from '@perdure/testing';
import { expect, test } from 'vitest';
import { acknowledged, faultsOf, type Acknowledged } from './batches.fixture.js';
import { followAll, newFact, readAll } from './facts.fixture.js';
import { openPostgresStores } from './open-postgres-stores.js';

/** How often the server is killed: PERDURE_KILLS asks for more. */
const KILLS = Number(process.env['PERDURE_KILLS'] ?? 3);
const STREAMS = ['session-_.a', 'session-_.b', 'budget-_.c', 'draft-_.a'];

/** Appends batches of one to four facts until it is told to end, and tells which were acknowledged. */
async function write(events: EventStore, stream: string, isOver: () => boolean): Promise<Acknowledged[]> {
  const batches: Acknowledged[] = [];
  let expected: ExpectedRevision = 'none';
  for (let index = 0; !isOver(); index++) {
    const size = 1 + (index % 4);
    const facts = Array.from({ length: size }, (_, place) =>
      newFact({ payload: JSON.stringify({ batch: `${stream}/${index}`, size, place, text: 'x'.repeat(index % 900) }) }),
    );
    let revision: number | undefined;
    while (revision === undefined) {
      try {
        const result = await events.append(stream, facts, { expected });
        if (result.status === 'stored') revision = result.revision;
        else if (result.status !== 'ambiguous') throw new Error(JSON.stringify(result));
      } catch (error) {
        if ((error as { code?: string }).code !== 'PERDURE_STORE_UNAVAILABLE') throw error;
        await setTimeout(10);
      }
    }
    expected = revision;
    batches.push(...acknowledged([`stored ${stream} ${facts[0]?.id} ${size} ${revision}`]));
  }
  return batches;
}

test(`PostgreSQL killed ${KILLS} times under load loses and doubles nothing`, { timeout: 300_000 }, async () => {
  const server = await startPostgresServer();
  const { events, close } = await openPostgresStores({ url: server.url, pollMs: 100 });
  const random = seededRandom(17);
  const leave = new AbortController();
  const follow = async (source: { stream: string } | { all: true }): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { facts } of events.subscribe(source, { signal: leave.signal })) {
      ids.push(...facts.map(({ id }) => id));
      if (facts.some(({ type }) => type === 'Last')) break;
    }
    return ids;
  };
  const ofStore = follow({ all: true });
  const ofStream = follow({ stream: STREAMS[0] ?? '' });
  let isOver = false;
  const writers = Promise.all(STREAMS.map((stream) => write(events, stream, () => isOver)));
  let known = 0;
  for (let round = 0; round < KILLS; round++) {
    await setTimeout(50 + random() * 250);
    await server.kill();
    await server.start();
    // Work went on after each kill.
    const before = known;
    while (known <= before) known = await count(events);
  }
  isOver = true;
  const batches = await writers;
  for (const [index, stream] of STREAMS.entries()) {
    const mine = batches[index] ?? [];
    expect(mine.length).toBeGreaterThan(KILLS);
    expect(faultsOf(await readAll(events, stream), mine)).toEqual([]);
  }
  const first = STREAMS[0] ?? '';
  const last = batches[0]?.at(-1)?.revision ?? -1;
  expect(await events.append(first, [newFact({ type: 'Last' })], { expected: last })).toMatchObject({
    status: 'stored',
  });
  const all = (await followAll(events)).map(({ id }) => id);
  expect(await ofStore).toEqual(all);
  expect(await ofStream).toEqual((await readAll(events, first)).map(({ id }) => id));
  leave.abort();
  await close();
  await server.stop();
});

async function count(events: EventStore): Promise<number> {
  let sum = 0;
  for (const stream of STREAMS) {
    const { head } = await events.read(stream, { direction: 'backwards', limit: 1 });
    sum += head === 'none' ? 0 : head + 1;
  }
  return sum;
}
