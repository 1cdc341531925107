import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SqliteConnection, SqliteDriver } from './driver.js';
import { newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { SCHEMA_VERSION } from './schema.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

for (const driver of await presentDrivers()) {
  describe(`opening a file that is not this build's (${driver.name})`, () => {
    test('a newer schema is refused and not touched', async () => {
      const { path, remove } = await storeWithOneFact(driver);
      withConnection(driver, path, (connection) => connection.exec(`pragma user_version = ${SCHEMA_VERSION + 1}`));
      const data = { actual: SCHEMA_VERSION + 1, expected: SCHEMA_VERSION };
      await expect(openSqliteStores({ path, driver })).rejects.toMatchObject({ code: 'PERDURE_STORE_NEWER', data });
      withConnection(driver, path, (connection) => connection.exec(`pragma user_version = ${SCHEMA_VERSION}`));
      const { events, close } = await openSqliteStores({ path, driver });
      expect(await readAll(events, 'session-_.a')).toHaveLength(1);
      await close();
      remove();
    });

    test("another program's database is refused and not touched", async () => {
      const { path, remove } = temporaryFolder();
      withConnection(driver, path, (connection) =>
        connection.exec('create table theirs (a); insert into theirs values (1)'),
      );
      await expect(openSqliteStores({ path, driver })).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
      withConnection(driver, path, (connection) => {
        expect(
          connection
            .prepare('select name from sqlite_schema')
            .all()
            .map((row) => Object.values(row as object)),
        ).toEqual([['theirs']]);
      });
      remove();
    });

    test('a file that is no database is refused, and nothing is left beside it', async () => {
      const { path, remove } = temporaryFolder();
      writeFileSync(path, 'This is a letter and not a database. '.repeat(100));
      await expect(openSqliteStores({ path, driver })).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
      expect(readdirSync(dirname(path)).filter((name) => name !== basename(path))).toEqual([]);
      remove();
    });

    test('a schema that lacks a table is refused', async () => {
      const { path, remove } = await storeWithOneFact(driver);
      withConnection(driver, path, (connection) => connection.exec('drop table hole'));
      await expect(openSqliteStores({ path, driver })).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
      remove();
    });

    test('a database that was emptied or deleted behind its witness is a loss', async () => {
      for (const destroy of [(path: string) => writeFileSync(path, ''), (path: string) => rmSync(path)]) {
        const { folder, path: original, remove } = await storeWithOneFact(driver);
        const path = `${folder}/copy.db`;
        for (const file of ['', '-tail']) copyFileSync(original + file, path + file);
        destroy(path);
        const data = { stream: 'session-_.a', lastRevision: -1 };
        await expect(openSqliteStores({ path, driver })).rejects.toMatchObject({
          code: 'PERDURE_STORE_TRUNCATED',
          data,
        });
        await (await openSqliteStores({ path, driver, acceptLoss: true })).close();
        await (await openSqliteStores({ path, driver })).close();
        remove();
      }
    });

    test('a copy without the files beside it opens', async () => {
      const { folder, path, remove } = await storeWithOneFact(driver);
      copyFileSync(path, `${folder}/copy.db`);
      const { events, close } = await openSqliteStores({ path: `${folder}/copy.db`, driver });
      expect(await readAll(events, 'session-_.a')).toHaveLength(1);
      await close();
      remove();
    });
  });
}

async function storeWithOneFact(driver: SqliteDriver): Promise<ReturnType<typeof temporaryFolder>> {
  const place = temporaryFolder();
  const { events, close } = await openSqliteStores({ path: place.path, driver });
  await store(events, 'session-_.a', newFacts(1), 'none');
  await close();
  return place;
}

function withConnection(driver: SqliteDriver, path: string, work: (connection: SqliteConnection) => void): void {
  const connection = new driver.DatabaseSync(path);
  work(connection);
  connection.close();
}
