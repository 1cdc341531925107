import { once } from 'node:events';
import { writeSync } from 'node:fs';
import type { EventStore, ExpectedRevision } from '@perdure/plugin-api';
import { newFacts } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers } from './temporary-stores.fixture.js';

/**
 * A process that appends: `path driver lot count stream…`, each stream by a writer of its own. It begins when its
 * standard input ends. A batch is tried until it is stored, and then acknowledged by a line
 * `stored <stream> <first id> <number of facts> <revision>`.
 */
const [path = '', driverName = '', lot = '1', count = '0', ...streams] = process.argv.slice(2);
const driver = (await presentDrivers()).find(({ name }) => name === driverName);
if (driver === undefined) throw new Error(`There is no driver ${driverName}.`);
const { events, close } = await openSqliteStores({ path, driver });

async function write(store: EventStore, stream: string): Promise<void> {
  let expected: ExpectedRevision = (await store.read(stream, { direction: 'backwards', limit: 1 })).head;
  let conflicts = 0;
  for (let index = 0; index < Number(count); index++) {
    const size = 1 + (index % 4);
    const facts = newFacts(size, {}, Number(lot)).map((fact, place) => ({
      ...fact,
      payload: JSON.stringify({
        batch: `${lot}/${stream}/${index}`,
        size,
        place,
        text: 'x'.repeat((index * 37) % 900),
      }),
    }));
    for (;;) {
      const result = await store.append(stream, facts, { expected });
      if (result.status === 'conflict') {
        conflicts += 1;
        expected = result.actual;
        continue;
      }
      if (result.status !== 'stored') throw new Error(JSON.stringify(result));
      expected = result.revision;
      writeSync(1, `stored ${stream} ${facts[0]?.id} ${size} ${result.revision}\n`);
      break;
    }
    // Every third time another writer of this or another process comes first.
    if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  writeSync(1, `done ${stream} ${conflicts}\n`);
}

writeSync(1, 'ready\n');
await once(process.stdin.resume(), 'end');
await Promise.all(streams.map((stream) => write(events, stream)));
await close();
