import { expect, test } from 'vitest';
import { acknowledged, faultsOf } from './batches.fixture.js';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { followAll, readAll } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const APPENDS = 400;
const SHARED = 'session-_.shared';

for (const driver of await presentDrivers()) {
  test(`two processes append to one stream and lose nothing (${driver.name}) [R19]`, { timeout: 120_000 }, async () => {
    const { path, remove } = temporaryFolder();
    const children = [1, 2].map((lot) =>
      startChild(
        fixtureCommand('writer', [path, driver.name, String(lot), String(APPENDS), SHARED, `session-_.own${lot}`]),
      ),
    );
    for (const child of children) await child.line('ready');
    for (const child of children) child.go();
    for (const child of children) expect(await child.end).toEqual({ code: 0, errors: '' });

    const conflicts = children.map(({ lines }) =>
      Number(lines.find((line) => line.startsWith(`done ${SHARED}`))?.split(' ')[2]),
    );
    // Whoever is quicker each time may meet none itself.
    const met = conflicts.reduce((sum, count) => sum + count, 0);
    expect(met, 'both processes were at work at the same time').toBeGreaterThan(0);

    const { events, close } = await openSqliteStores({ path, driver });
    const batches = children.flatMap(({ lines }) => acknowledged(lines));
    expect(batches).toHaveLength(4 * APPENDS);
    let count = 0;
    for (const stream of [SHARED, 'session-_.own1', 'session-_.own2']) {
      const facts = await readAll(events, stream);
      count += facts.length;
      expect(
        faultsOf(
          facts,
          batches.filter((batch) => batch.stream === stream),
        ),
      ).toEqual([]);
    }
    expect(count).toBe(batches.reduce((sum, { size }) => sum + size, 0));
    const positions = (await followAll(events)).map(({ position }) => position);
    expect(positions).toHaveLength(count);
    expect(positions.toSorted()).toEqual(positions);
    await close();

    const connection = new driver.DatabaseSync(path);
    expect(Object.values(connection.prepare('pragma integrity_check').get() as object)).toEqual(['ok']);
    connection.close();
    remove();
  });

  test(`a file that another process is just making is waited for (${driver.name})`, { timeout: 60_000 }, async () => {
    const { path, remove } = temporaryFolder();
    const maker = startChild(fixtureCommand('exclusive-lock', [path, driver.name]));
    await maker.line('held');
    const { close } = await openSqliteStores({ path, driver });
    await close();
    expect(await maker.end).toEqual({ code: 0, errors: '' });
    remove();
  });
}
