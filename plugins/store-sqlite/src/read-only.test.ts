import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { newFacts, readAll, store } from './facts.fixture.js';
import { observedDriver } from './observed-driver.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

for (const driver of await presentDrivers()) {
  describe(`what cannot be written (${driver.name})`, () => {
    test.skipIf(process.platform === 'win32')(
      'a folder or file without the right to write is PERDURE_STORE_READ_ONLY (needs modes of POSIX)',
      { timeout: 60_000 },
      async () => {
        const { folder, remove } = temporaryFolder();
        chmodSync(folder, 0o755);
        const place = async (name: string): Promise<string> => {
          mkdirSync(`${folder}/${name}`);
          await (await openSqliteStores({ path: `${folder}/${name}/perdure.db`, driver })).close();
          for (const file of ['-wal', '-shm']) rmSync(`${folder}/${name}/perdure.db${file}`, { force: true });
          chmodSync(`${folder}/${name}`, 0o777);
          for (const file of ['', '-tail']) chmodSync(`${folder}/${name}/perdure.db${file}`, 0o666);
          return `${folder}/${name}/perdure.db`;
        };
        const paths = [await place('writable'), await place('file'), await place('tail'), await place('folder')];
        chmodSync(`${folder}/file/perdure.db`, 0o444);
        chmodSync(`${folder}/tail/perdure.db-tail`, 0o444);
        chmodSync(`${folder}/folder`, 0o555);
        mkdirSync(`${folder}/empty`, { mode: 0o555 });
        const child = startChild(
          fixtureCommand('read-only', [
            driver.name,
            ...paths,
            `${folder}/empty/perdure.db`,
            `${folder}/empty/below/perdure.db`,
          ]),
        );
        child.go();
        expect(await child.end).toEqual({ code: 0, errors: '' });
        const readOnly = 'PERDURE_STORE_READ_ONLY';
        expect(child.lines).toEqual(['opened', readOnly, readOnly, readOnly, readOnly, readOnly]);
        chmodSync(`${folder}/folder`, 0o755);
        remove();
      },
    );

    test('a file that becomes read-only refuses writes and still reads', async () => {
      const { path, remove } = temporaryFolder();
      let isReadOnly = false;
      const observed = observedDriver(driver, ({ sql, connection }) => {
        if (isReadOnly && /^(begin immediate|insert into batch)/.test(sql)) connection.exec('pragma query_only = on');
      });
      const { events, close } = await openSqliteStores({ path, driver: observed });
      await store(events, 'session-_.a', newFacts(2), 'none');
      isReadOnly = true;
      for (const stream of ['session-_.a', 'session-_.new', 'draft-_.a']) {
        const expected = stream === 'session-_.a' ? 1 : 'none';
        await expect(events.append(stream, newFacts(1), { expected })).rejects.toMatchObject({
          code: 'PERDURE_STORE_READ_ONLY',
        });
      }
      expect(await readAll(events, 'session-_.a')).toHaveLength(2);
      await close();
      remove();
    });
  });
}
