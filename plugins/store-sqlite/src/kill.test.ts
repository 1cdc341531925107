import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '@perdure/testing';
import { expect, test } from 'vitest';
import { acknowledged, faultsOf, type Acknowledged } from './batches.fixture.js';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import { readAll } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const KILLS = 20;
const STREAMS = ['session-_.a', 'session-_.b', 'session-_.c', 'draft-_.a'];

for (const driver of await presentDrivers()) {
  test(`killed ${KILLS} times, all acknowledged batches are whole (${driver.name})`, { timeout: 300_000 }, async () => {
    const { path, remove } = temporaryFolder();
    const random = seededRandom(17);
    const batches: Acknowledged[] = [];
    let killed = 0;
    for (let round = 1; round <= KILLS; round++) {
      // One stream alone is committed at once; several share transactions.
      const streams = round % 3 === 0 ? STREAMS.slice(0, 1) : STREAMS;
      const child = startChild(fixtureCommand('writer', [path, driver.name, String(round), '100000', ...streams]));
      child.go();
      await child.line('stored');
      await setTimeout(random() * 120);
      child.process.kill('SIGKILL');
      const { code, errors } = await child.end;
      expect({ code, errors }).toEqual({ code: 'SIGKILL', errors: '' });
      killed += 1;
      batches.push(...acknowledged(child.lines));

      const { events, close } = await openSqliteStores({ path, driver });
      for (const stream of STREAMS) {
        const facts = await readAll(events, stream);
        expect(
          faultsOf(
            facts,
            batches.filter((batch) => batch.stream === stream),
          ),
        ).toEqual([]);
      }
      await close();
    }
    expect(killed).toBe(KILLS);
    expect(batches.length).toBeGreaterThan(KILLS * 5);
    remove();
  });
}
