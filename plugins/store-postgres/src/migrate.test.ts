import { afterEach, expect, inject, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { Connections } from './connections.js';
import { followAll, newFacts, store } from './facts.fixture.js';
import { migrate } from './migrate.js';
import { namesOf } from './names.js';
import { openPostgresStores } from './open-postgres-stores.js';
import { readOptions } from './options.js';
import { migrations, type Migration } from './schema.js';
import { runSql, temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

let stores: TemporaryStores | undefined;
afterEach(() => stores?.dispose());

test('two processes that start at once make the tables once', { timeout: 60_000 }, async () => {
  stores = temporaryStores();
  const children = [1, 2].map(() =>
    startChild(fixtureCommand('migrator', [inject('postgresUrl'), stores?.schema ?? ''])),
  );
  for (const child of children) await child.line('ready');
  for (const child of children) child.go();
  for (const child of children) {
    expect(await child.end).toEqual({ code: 0, errors: '' });
    expect(child.lines).toEqual(['ready', 'stored']);
  }
  const { events } = await stores.open();
  expect(await followAll(events)).toHaveLength(2);
});

test('many stores of one process that start at once make the tables once', async () => {
  const made = temporaryStores();
  stores = made;
  const opened = await Promise.all(Array.from({ length: 6 }, () => made.open()));
  expect(opened).toHaveLength(6);
});

test('a later build adds its steps to what is there, and an earlier one refuses the result', async () => {
  stores = temporaryStores();
  const { events } = await stores.open();
  await store(events, 'session-_.a', newFacts(2), 'none');
  const later: Migration = ({ schema }) => [`alter table ${schema}.fact add column later integer not null default 7`];
  const url = inject('postgresUrl');
  const { schema } = stores;
  const connections = new Connections(readOptions({ url, schema }), async () => undefined);
  await Promise.all([1, 2].map(() => migrate(connections, namesOf(schema), [...migrations, later])));
  expect(await runSql(`select later from "${schema}".fact`)).toEqual([{ later: 7 }, { later: 7 }]);
  await expect(openPostgresStores({ url, schema })).rejects.toMatchObject({
    code: 'PERDURE_STORE_NEWER',
    data: { actual: migrations.length + 1, expected: migrations.length },
  });
  expect(await followAll(events)).toHaveLength(2);
  await connections.close();
});

test('a step that fails leaves nothing of it', async () => {
  stores = temporaryStores();
  const { schema } = stores;
  const connections = new Connections(readOptions({ url: inject('postgresUrl'), schema }), async () => undefined);
  const broken: Migration = () => ['select 1 / 0'];
  await expect(migrate(connections, namesOf(schema), [...migrations, broken])).rejects.toMatchObject({
    code: 'PERDURE_STORE_UNAVAILABLE',
  });
  expect(await runSql(`select to_regclass('"${schema}".fact') as found`)).toEqual([{ found: null }]);
  await connections.close();
});

test('stores of several schemas do not see each other, whatever a schema is called', async () => {
  stores = temporaryStores();
  const names = [stores.schema, `${stores.schema} "quoted" Ü`];
  const opened = [];
  for (const schema of names) opened.push(await stores.open({ schema }));
  for (const [index, { events, projections }] of opened.entries()) {
    await store(events, 'session-_.same', newFacts(index + 1), 'none');
    await projections.commit('p', { expected: undefined, checkpoint: String(index), put: [], remove: [] });
  }
  for (const [index, { events, projections }] of opened.entries()) {
    expect(await followAll(events)).toHaveLength(index + 1);
    expect(await projections.checkpoint('p')).toBe(String(index));
  }
  const found = await runSql(`select nspname from pg_namespace where nspname like '${stores.schema}%' order by 1`);
  expect(found.map(({ nspname }) => nspname)).toEqual(names);
  for (const schema of ['', 'x'.repeat(64), 'a\0b', 7 as unknown as string]) {
    await expect(openPostgresStores({ url: inject('postgresUrl'), schema })).rejects.toMatchObject({
      code: 'PERDURE_INPUT_INVALID',
      data: { field: 'schema' },
    });
  }
});

test('a role that may use the tables needs no right to make them; one that may only read cannot append', async () => {
  stores = temporaryStores();
  const { schema } = stores;
  const { events } = await stores.open();
  await store(events, 'session-_.a', newFacts(1), 'none');
  const roles = { writer: `w_${schema}`, reader: `r_${schema}` };
  for (const role of Object.values(roles)) {
    await runSql(`create role "${role}" login password 'p'; grant usage on schema "${schema}" to "${role}";
      grant select on all tables in schema "${schema}" to "${role}"`);
  }
  await runSql(`grant insert, update, delete on all tables in schema "${schema}" to "${roles.writer}";
    grant usage on all sequences in schema "${schema}" to "${roles.writer}"`);
  const as = (user: string): string => {
    const url = new URL(inject('postgresTcpUrl'));
    url.username = user;
    url.password = 'p';
    return url.href;
  };
  const writer = await stores.open({ url: as(roles.writer) });
  await store(writer.events, 'session-_.a', newFacts(1), 0);
  const reader = await stores.open({ url: as(roles.reader) });
  expect((await reader.events.read('session-_.a')).facts).toHaveLength(2);
  await expect(reader.events.append('session-_.a', newFacts(1), { expected: 1 })).rejects.toMatchObject({
    code: 'PERDURE_STORE_READ_ONLY',
  });
  await stores.closeAll();
  for (const role of Object.values(roles)) await runSql(`drop owned by "${role}"; drop role "${role}"`);
});
