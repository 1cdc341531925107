import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

for (const driver of await presentDrivers()) {
  test(`a node is present while its mark is held (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const { presence, close } = await openSqliteStores({ path, driver });
    for (const node of ['n1', 'a/b', '..', 'N1', 'ü 😀', '%']) {
      expect(await presence.isPresent(node)).toBeUndefined();
      const release = await presence.announce(node);
      expect(await Promise.all([presence.isPresent(node), presence.isPresent(node)])).toEqual([true, true]);
      await release();
      await release();
      expect(await Promise.all([presence.isPresent(node), presence.isPresent(node)])).toEqual([false, false]);
      await presence.announce(node);
      expect(await presence.isPresent(node)).toBe(true);
    }
    await expect(presence.announce('')).rejects.toMatchObject({
      code: 'PERDURE_INPUT_INVALID',
      data: { field: 'node' },
    });
    await close();
    const again = await openSqliteStores({ path, driver });
    expect(await again.presence.isPresent('n1')).toBe(false);
    expect(statSync(`${path}-nodes`).mode & 0o777).toBe(0o700);
    expect(statSync(`${path}-nodes/n1.db`).mode & 0o777).toBe(0o600);
    await again.close();
    remove();
  });

  test(
    `the death of a process is seen at once, and a node runs once (${driver.name})`,
    { timeout: 60_000 },
    async () => {
      const { path, remove } = temporaryFolder();
      const { presence, close } = await openSqliteStores({ path, driver });
      const child = startChild(fixtureCommand('presence', [path, driver.name, 'worker']));
      await child.line('announced');
      expect(await presence.isPresent('worker')).toBe(true);
      await expect(presence.announce('worker')).rejects.toMatchObject({ code: 'PERDURE_NODE_RUNNING' });
      expect(await presence.isPresent('worker')).toBe(true);
      child.process.kill('SIGKILL');
      await child.end;
      expect(await presence.isPresent('worker')).toBe(false);
      const release = await presence.announce('worker');
      expect(await presence.isPresent('worker')).toBe(true);
      await release();
      await close();
      remove();
    },
  );
}
