import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { appendRequest, appendStatement, appendValues } from './append-request.js';
import { followAll, newFact, newFacts, store } from './facts.fixture.js';
import { runSql, temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

let stores: TemporaryStores | undefined;
afterEach(() => stores?.dispose());

/** Appends in a transaction that stays open until it is told how to end. */
async function openTransaction(schema: string, stream: string, id: string): Promise<(end: string) => Promise<void>> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query('begin');
  const values = appendValues([appendRequest(stream, [newFact({ id })], 'none')]);
  await client.query(appendStatement(`"${schema}"`).text, [...values]);
  return async (end) => {
    await client.query(end);
    await client.end();
  };
}

test.each(['commit', 'rollback'])('a reader that polls sees no gap while a writer is slow to %s', async (end) => {
  stores = temporaryStores();
  const { events } = await stores.open({ pollMs: 10 });
  const reader = (await stores.open({ pollMs: 10 })).events;
  await store(events, 'session-_.first', newFacts(2), 'none');
  const slowId = newFact().id;
  const endSlow = await openTransaction(stores.schema, 'session-_.slow', slowId);

  const quick = newFacts(1);
  let isStored = false;
  const later = events.append('session-_.quick', quick, { expected: 'none' }).then((result) => {
    isStored = true;
    return result;
  });
  const seen: string[][] = [];
  const poll = async (): Promise<void> => {
    seen.push((await followAll(reader)).map(({ id }) => id));
  };
  for (let round = 0; round < 10; round++) await poll();
  expect(isStored, 'who comes later is not visible first').toBe(false);
  expect(seen.every((ids) => ids.length === 2)).toBe(true);
  await endSlow(end);
  expect(await later).toMatchObject({ status: 'stored' });
  await poll();
  const added = [...(end === 'commit' ? [slowId] : []), ...quick.map(({ id }) => id)];
  expect(seen.at(-1)?.slice(2)).toEqual(added);
  const positions = (await followAll(reader)).map(({ position }) => Number(position));
  expect(positions).toEqual(positions.map((_, index) => index + 1));
});

test('appends that come together share a transaction, and a conflict fails itself only', async () => {
  stores = temporaryStores();
  const { events } = await stores.open();
  await store(events, 'session-_.first', newFacts(1), 'none');
  const appends = Array.from({ length: 40 }, (_, index) =>
    events.append(`session-_.s${index % 30}`, newFacts(2), { expected: 'none' }),
  );
  const statuses = (await Promise.all(appends)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'stored')).toHaveLength(30);
  expect(statuses.slice(30)).toEqual(Array.from({ length: 10 }, () => 'conflict'));
  const [row] = await runSql(`select count(distinct xmin::text)::int as transactions from "${stores.schema}".fact`);
  expect(row).toEqual({ transactions: 2 });
});

test('the type that the server cannot store fails its batch, and no other of the same transaction', async () => {
  stores = temporaryStores();
  const { events } = await stores.open();
  await runSql(`alter table "${stores.schema}".fact add check (type <> 'Refused')`);
  const results = await Promise.allSettled([
    events.append('session-_.a', newFacts(1), { expected: 'none' }),
    events.append('session-_.b', [newFact({ type: 'Refused' })], { expected: 'none' }),
    events.append('session-_.c', newFacts(1), { expected: 'none' }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await followAll(events)).map(({ stream }) => stream)).toEqual(['session-_.a', 'session-_.c']);
});
