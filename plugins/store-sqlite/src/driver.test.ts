import { expect, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { builtInDriver, defaultDriver, isSafeSqlite, type SqliteDriver } from './driver.js';
import { newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

test('a SQLite before 3.51.3 is not safe for several processes', () => {
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '3.100.0', '4.0.0']) expect(isSafeSqlite(version)).toBe(true);
  for (const version of ['3.51.2', '3.51', '3.9.9', '3.45.1', '2.99.9', '', 'x'])
    expect(isSafeSqlite(version)).toBe(false);
});

test('the built-in SQLite is used where it is safe and quiet', async () => {
  const major = Number.parseInt(process.versions.node, 10);
  const isThere = major >= 24 && isSafeSqlite(process.versions.sqlite ?? '');
  expect(builtInDriver()?.name).toBe(isThere ? 'node:sqlite' : undefined);
  expect((await defaultDriver()).name).toBe(isThere ? 'node:sqlite' : '@photostructure/sqlite');
});

test('opening with the default driver writes nothing to the terminal', { timeout: 60_000 }, async () => {
  const { path, remove } = temporaryFolder();
  const child = startChild(fixtureCommand('default-driver', [path]));
  child.go();
  expect(await child.end).toEqual({ code: 0, errors: '' });
  expect(child.lines).toEqual([(await defaultDriver()).name, 'stored 0']);
  remove();
});

for (const driver of await presentDrivers()) {
  test(`an injected SQLite that is too old is refused (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    class Old extends driver.DatabaseSync {
      override prepare(sql: string): ReturnType<InstanceType<SqliteDriver['DatabaseSync']>['prepare']> {
        return super.prepare(sql.replace('sqlite_version()', "'3.45.1'"));
      }
    }
    await expect(openSqliteStores({ path, driver: { name: 'old', DatabaseSync: Old } })).rejects.toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      data: { field: 'driver' },
    });
    remove();
  });

  test(`a driver that gives rows as objects only works too (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    class Plain extends driver.DatabaseSync {
      override prepare(sql: string): ReturnType<InstanceType<SqliteDriver['DatabaseSync']>['prepare']> {
        const statement = super.prepare(sql);
        return {
          run: (...values) => statement.run(...values),
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
          iterate: (...values) => statement.iterate(...values),
        };
      }
    }
    const { events, projections, close } = await openSqliteStores({
      path,
      driver: { name: 'plain', DatabaseSync: Plain },
    });
    const facts = newFacts(3);
    await store(events, 'session-_.a', facts, 'none');
    expect((await readAll(events, 'session-_.a')).map(({ payload }) => payload)).toEqual(
      facts.map(({ payload }) => payload),
    );
    const row = { key: 'a', value: 'b' };
    await projections.commit('list', { expected: undefined, checkpoint: '1', put: [row], remove: [] });
    expect(await projections.rows('list')).toEqual([row]);
    await close();
    remove();
  });
}
