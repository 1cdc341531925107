import { expect, test } from 'vitest';
import type { SqliteDriver } from './driver.js';
import { followAll, newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

function valuesOf(driver: SqliteDriver, path: string, sql: string): unknown[][] {
  const connection = new driver.DatabaseSync(path);
  const rows = connection
    .prepare(sql)
    .all()
    .map((row) => Object.values(row as object) as unknown[]);
  connection.close();
  return rows;
}

for (const driver of await presentDrivers()) {
  test(
    `truncating deletes whole rows, and followers know the holes (${driver.name})`,
    { timeout: 60_000 },
    async () => {
      const { path, remove } = temporaryFolder();
      const { events, close } = await openSqliteStores({ path, driver });
      const appends: Promise<number>[] = [];
      for (let index = 0; index < 1_300; index++) {
        appends.push(store(events, 'session-_.a', newFacts(2), index === 0 ? 'none' : index * 2 - 1));
        if (index % 100 === 0)
          appends.push(store(events, 'session-_.b', newFacts(1), index === 0 ? 'none' : index / 100 - 1));
      }
      await Promise.all(appends);
      await events.truncate('session-_.a', 2_501);
      const count = valuesOf(
        driver,
        path,
        "select count(*) from batch join stream on stream.id = stream where name = 'session-_.a'",
      );
      expect(count).toEqual([[50]]);
      expect(await readAll(events, 'session-_.a')).toHaveLength(99);
      const left = await followAll(events);
      expect(left.filter(({ stream, revision }) => stream === 'session-_.b' || revision >= 2_501)).toHaveLength(
        13 + 99,
      );
      await events.truncate('session-_.a', 2_600);
      expect(await events.read('session-_.a')).toEqual({ facts: [], head: 2_599 });
      expect(await followAll(events)).toHaveLength(13);
      await close();

      const again = await openSqliteStores({ path, driver });
      expect(await followAll(again.events)).toHaveLength(13);
      const highest = Math.max(
        ...(await followAll(again.events)).map(({ position }) => Number(position.split('.')[0])),
      );
      await store(again.events, 'session-_.c', newFacts(1), 'none');
      const next = (await followAll(again.events)).at(-1)?.position ?? '';
      expect(Number(next.split('.')[0])).toBe(2_613 + 1);
      expect(highest).toBeLessThanOrEqual(2_613);
      await again.close();
      remove();
    },
  );

  test(`drafts are in a table of their own, which truncating empties (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const { events, close } = await openSqliteStores({ path, driver });
    for (let step = 0; step < 3; step++) {
      for (let index = 0; index < 5; index++) {
        const head = step * 5 + index;
        await store(events, 'draft-_.a', newFacts(1), head === 0 ? 'none' : head - 1);
      }
      expect(valuesOf(driver, path, 'select count(*) from weak_batch')).toEqual([[5]]);
      await events.truncate('draft-_.a', step * 5 + 5);
      expect(valuesOf(driver, path, 'select count(*) from weak_batch')).toEqual([[0]]);
    }
    expect(valuesOf(driver, path, 'select count(*) from batch')).toEqual([[0]]);
    expect(valuesOf(driver, path, "select value from counter where name = 'weak'")).toEqual([[15]]);
    await close();
    const again = await openSqliteStores({ path, driver });
    expect(await store(again.events, 'draft-_.a', newFacts(1), 14)).toBe(15);
    expect((await readAll(again.events, 'draft-_.a')).map(({ position }) => position)).toEqual([
      '0000000000000000.0000000000000016',
    ]);
    await again.close();
    remove();
  });
}
