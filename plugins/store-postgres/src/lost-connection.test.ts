import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { EventStore, ExpectedRevision } from '@perdure/plugin-api';
import { afterEach, expect, inject, test } from 'vitest';
import { newFact, newFacts, readAll, store } from './facts.fixture.js';
import { startProxy, type Proxy } from './proxy.fixture.js';
import { runSql, temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

const STREAM = 'session-_.s';

let stores: TemporaryStores | undefined;
let proxy: Proxy | undefined;
afterEach(async () => {
  await stores?.dispose();
  await proxy?.close();
});

async function behindProxy(options: { readonly queryTimeoutMs?: number; readonly pollMs?: number } = {}) {
  proxy = await startProxy(inject('postgresTcpUrl'));
  stores = temporaryStores();
  const { events } = await stores.open({ url: proxy.url, ...options });
  return { events, proxy, stores };
}

/** Appends as a writer must: the identical batch again after an ambiguous outcome, and when the server is away. */
async function persist(events: EventStore, id: string, expected: ExpectedRevision): Promise<number> {
  const facts = [newFact({ id })];
  for (;;) {
    const result = await events.append(STREAM, facts, { expected }).catch((error: { code?: string }) => {
      if (error.code !== 'PERDURE_STORE_UNAVAILABLE') throw error;
      return undefined;
    });
    if (result?.status === 'stored') return result.revision;
    if (result !== undefined && result.status !== 'ambiguous') throw new Error(JSON.stringify(result));
    await setTimeout(5);
  }
}

test('a connection that dies when the commit is done is ambiguous; the identical batch is stored once', async () => {
  const { events, proxy: network } = await behindProxy();
  await store(events, STREAM, newFacts(1), 'none');
  const facts = newFacts(2);
  network.swallowAnswers();
  const pending = events.append(STREAM, facts, { expected: 0 });
  await network.swallowed();
  network.cut();
  const outcome = await pending;
  expect(outcome).toMatchObject({ status: 'ambiguous', cause: { code: 'PERDURE_STORE_UNAVAILABLE' } });
  const { password } = new URL(network.url);
  expect(password).not.toBe('');
  expect(inspect(outcome, { depth: 9, showHidden: true })).not.toContain(decodeURIComponent(password));
  expect(await events.append(STREAM, facts, { expected: 0 })).toMatchObject({ status: 'stored', revision: 2 });
  expect(await readAll(events, STREAM)).toHaveLength(3);
});

test('a server that falls silent is given up by a timer of ours', async () => {
  const { events, proxy: network } = await behindProxy({ queryTimeoutMs: 100 });
  await store(events, STREAM, newFacts(1), 'none');
  network.swallowAnswers();
  const facts = newFacts(1);
  const [appended, read] = await Promise.allSettled([
    events.append(STREAM, facts, { expected: 0 }),
    events.read(STREAM),
  ]);
  expect(appended).toMatchObject({ status: 'fulfilled', value: { status: 'ambiguous' } });
  expect(read).toMatchObject({ status: 'rejected', reason: { code: 'PERDURE_STORE_UNAVAILABLE' } });
  network.cut();
  expect(await events.append(STREAM, facts, { expected: 0 })).toMatchObject({ status: 'stored', revision: 1 });
});

test('a read is left at once when its signal is aborted', async () => {
  const { events, proxy: network } = await behindProxy();
  await store(events, STREAM, newFacts(1), 'none');
  network.swallowAnswers();
  const reason = new Error('the caller left');
  const controller = new AbortController();
  const read = events.read(STREAM, { signal: controller.signal });
  await network.swallowed();
  controller.abort(reason);
  await expect(read).rejects.toBe(reason);
});

test('connections that the server ends in the middle of appends and subscriptions lose nothing', async () => {
  stores = temporaryStores();
  const name = `perdure ${stores.schema}`;
  const url = new URL(inject('postgresTcpUrl'));
  url.searchParams.set('application_name', name);
  const { events } = await stores.open({ url: url.href, pollMs: 50 });
  const ids = Array.from({ length: 60 }, () => newFact().id);
  const follow = async (source: { stream: string } | { all: true }): Promise<string[]> => {
    const seen: string[] = [];
    for await (const { facts } of events.subscribe(source)) {
      seen.push(...facts.map(({ id }) => id));
      if (seen.length >= ids.length) break;
    }
    return seen;
  };
  const followers = [follow({ stream: STREAM }), follow({ all: true })];
  let ended = 0;
  for (const [index, id] of ids.entries()) {
    const stored = persist(events, id, index === 0 ? 'none' : index - 1);
    if (index % 10 === 5) {
      const [row] = await runSql(`select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
        where application_name = '${name}'`);
      ended += row?.['ended'] as number;
    }
    expect(await stored).toBe(index);
  }
  expect(ended).toBeGreaterThan(10);
  expect(await Promise.all(followers)).toEqual([ids, ids]);
  expect((await readAll(events, STREAM)).map(({ id }) => id)).toEqual(ids);
});

test('a notification that is lost costs a moment only', async () => {
  stores = temporaryStores();
  const { events } = await stores.open({ pollMs: 30 });
  const writer = (await stores.open()).events;
  const [row] = await runSql(`select pg_get_functiondef(p.oid) as text from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace where n.nspname = '${stores.schema}' and p.proname = 'append_v1'`);
  const text = String(row?.['text']);
  expect(text).toContain('pg_notify(');
  await runSql(text.replace(/perform pg_catalog\.pg_notify\([^;]*;/, 'null;'));
  const seen: string[] = [];
  const ids: string[] = [];
  const isOver = new AbortController();
  const following = (async () => {
    for await (const { facts } of events.subscribe({ all: true }, { signal: isOver.signal })) {
      seen.push(...facts.map(({ id }) => id));
      if (ids.length === 5 && seen.length >= 5) isOver.abort();
    }
  })();
  for (let round = 0; round < 5; round++) {
    const [fact] = newFacts(1);
    if (fact === undefined) throw new Error('no fact');
    ids.push(fact.id);
    await store(writer, STREAM, [fact], round === 0 ? 'none' : round - 1);
    await setTimeout(20);
  }
  await following;
  expect(seen).toEqual(ids);
});
