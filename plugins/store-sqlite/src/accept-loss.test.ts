import { copyFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { followAll, newFacts, readAll, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

for (const driver of await presentDrivers()) {
  test(`after a loss that is accepted, streams go on and no position comes twice (${driver.name})`, async () => {
    const { path, folder, remove } = temporaryFolder();
    const copy = `${folder}/copy.db`;
    const stores = await openSqliteStores({ path, driver });
    await store(stores.events, 'session-_.a', newFacts(3), 'none');
    await store(stores.events, 'session-_.b', newFacts(2), 'none');
    // The log as it was, with the witness of later: what a disk leaves that lost the end of the log.
    for (const file of ['', '-wal']) copyFileSync(path + file, copy + file);
    await store(stores.events, 'session-_.a', newFacts(2), 2);
    await store(stores.events, 'session-_.new', newFacts(4), 'none');
    const lost = await followAll(stores.events);
    await setTimeout(20);
    copyFileSync(`${path}-tail`, `${copy}-tail`);
    await stores.close();

    const refusal = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: 'session-_.new', lastRevision: -1 } };
    await expect(openSqliteStores({ path: copy, driver })).rejects.toMatchObject(refusal);
    await expect(openSqliteStores({ path: copy, driver })).rejects.toMatchObject(refusal);

    const accepted = await openSqliteStores({ path: copy, driver, acceptLoss: true });
    expect(await readAll(accepted.events, 'session-_.a')).toEqual(
      lost.filter(({ stream }) => stream === 'session-_.a').slice(0, 3),
    );
    expect(await accepted.events.read('session-_.new')).toEqual({ facts: [], head: 'none' });
    expect(await store(accepted.events, 'session-_.a', newFacts(1), 2)).toBe(3);
    await accepted.close();

    const { events, close } = await openSqliteStores({ path: copy, driver });
    const all = await followAll(events);
    expect(all.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual([
      'session-_.a@0',
      'session-_.a@1',
      'session-_.a@2',
      'session-_.b@0',
      'session-_.b@1',
      'session-_.a@3',
    ]);
    const highestLost = lost.at(-1)?.position ?? '';
    expect((all.at(-1)?.position ?? '') > highestLost).toBe(true);
    await close();
    remove();
  });

  test(`a stream that lost its last row goes on where its rows end (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const stores = await openSqliteStores({ path, driver });
    await store(stores.events, 'session-_.a', newFacts(3), 'none');
    await store(stores.events, 'session-_.a', newFacts(2), 2);
    await store(stores.events, 'session-_.b', newFacts(1), 'none');
    await stores.close();
    const connection = new driver.DatabaseSync(path);
    connection.exec('delete from batch where revision = 4');
    connection.close();

    const damaged = await openSqliteStores({ path, driver });
    const refusal = { code: 'PERDURE_STORE_TRUNCATED', data: { stream: 'session-_.a', lastRevision: 2 } };
    await expect(readAll(damaged.events, 'session-_.a')).rejects.toMatchObject(refusal);
    await expect(followAll(damaged.events)).rejects.toMatchObject({ code: 'PERDURE_STORE_DAMAGED' });
    await expect(store(damaged.events, 'session-_.a', newFacts(1), 2)).rejects.toMatchObject(refusal);
    expect(await readAll(damaged.events, 'session-_.b')).toHaveLength(1);
    await damaged.close();
    const accepted = await openSqliteStores({ path, driver, acceptLoss: true });
    expect(await readAll(accepted.events, 'session-_.a')).toHaveLength(3);
    expect(await store(accepted.events, 'session-_.a', newFacts(1), 2)).toBe(3);
    await accepted.close();
    const again = await openSqliteStores({ path, driver });
    expect(await readAll(again.events, 'session-_.a')).toHaveLength(4);
    expect(await followAll(again.events)).toHaveLength(5);
    await again.close();
    remove();
  });
}
