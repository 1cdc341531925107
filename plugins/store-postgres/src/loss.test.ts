import { afterEach, expect, inject, test } from 'vitest';
import { newFacts, readAll, store } from './facts.fixture.js';
import { runSql, temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

const STREAM = 'session-_.s';

let stores: TemporaryStores | undefined;
afterEach(() => stores?.dispose());

async function fiveFacts() {
  const made = temporaryStores();
  stores = made;
  const { events, artifacts, snapshots } = await made.open();
  await store(events, STREAM, newFacts(5), 'none');
  await store(events, 'session-_.beside', newFacts(1), 'none');
  const sql = (text: string): Promise<unknown> => runSql(text.replaceAll('@', `"${made.schema}".`));
  return { events, artifacts, snapshots, sql, stores: made };
}

test.each([{}, { omitDetail: true }, { direction: 'backwards' }, { from: 1, limit: 1 }] as const)(
  'facts that are missing at the end of a stream are missed by a read with %o',
  async (options) => {
    const { events, sql } = await fiveFacts();
    await sql('delete from @fact where revision > 2');
    const lost = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: STREAM, lastRevision: 2 } };
    await expect(events.read(STREAM, options)).rejects.toMatchObject(lost);
    const follower = events.subscribe({ stream: STREAM })[Symbol.asyncIterator]();
    await expect(follower.next()).rejects.toMatchObject(lost);
    expect((await events.read('session-_.beside')).facts).toHaveLength(1);
  },
);

test('a fact that is missing in the middle is an error, never a shorter page', async () => {
  const { events, sql } = await fiveFacts();
  await sql('delete from @fact where revision = 2');
  const damaged = { code: 'PERDURE_STORE_DAMAGED', data: { stream: STREAM } };
  await expect(readAll(events, STREAM)).rejects.toMatchObject(damaged);
  await expect(readAll(events, STREAM, { direction: 'backwards', limit: 2 })).rejects.toMatchObject(damaged);
  expect((await events.read(STREAM, { from: 3 })).facts).toHaveLength(2);
});

test('a server that lacks what this node was told to be stored is refused', async () => {
  const { sql, stores: made } = await fiveFacts();
  const url = new URL(inject('postgresTcpUrl'));
  url.searchParams.set('application_name', `store ${made.schema}`);
  const { events } = await made.open({ url: url.href });
  await store(events, STREAM, newFacts(2), 4);
  // As a server that took over, or was set back, before it had the last batch.
  await sql(`delete from @fact where revision > 4; update @stream set head = 4 where name = '${STREAM}';
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'store ${made.schema}'`);
  const lost = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: STREAM, lastRevision: 4 } };
  await expect.poll(() => events.read(STREAM).catch((error: unknown) => error)).toMatchObject(lost);
  await expect(events.append(STREAM, newFacts(1), { expected: 4 })).rejects.toMatchObject(lost);
});

test('a follower that is ahead of the store is told so', async () => {
  const { events } = await fiveFacts();
  const follower = events.subscribe({ all: true, after: '0000000000000099' })[Symbol.asyncIterator]();
  await expect(follower.next()).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
});

test('bytes that are not what was written are refused', async () => {
  const { events, artifacts, snapshots, sql } = await fiveFacts();
  await sql(`update @fact set payload = '\\xff' where revision = 1`);
  await expect(events.read(STREAM)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
  const digest = await artifacts.put('acme', Buffer.alloc(300_000, 7));
  await sql(`update @artifact_chunk set bytes = set_byte(bytes, 9, 8) where number = 1`);
  expect(await artifacts.get('acme', digest, { to: 100 })).toHaveLength(100);
  await expect(artifacts.get('acme', digest)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
  await sql('delete from @artifact_chunk');
  await expect(artifacts.get('acme', digest)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
  await sql(`insert into @snapshot (key, name, seal, value) values (sha256('k'), 'k', 1, '{}')`);
  await expect(snapshots.load('k')).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
});

test('tables that were taken away are damage, not absence', async () => {
  const { events, sql } = await fiveFacts();
  await sql('drop table @fact cascade');
  await expect(events.read(STREAM)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
  await expect(events.append(STREAM, newFacts(1), { expected: 4 })).rejects.toMatchObject({
    code: 'PERDURE_STORE_DAMAGED',
  });
});
