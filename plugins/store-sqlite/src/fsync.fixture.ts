import { writeSync } from 'node:fs';
import { newFacts, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers } from './temporary-stores.fixture.js';

/**
 * A process that appends one by one, `path driver`, and says so on its standard output before and after: the order of
 * these writes and of the waits for the disk is what the test looks at.
 */
const [path = '', driverName = ''] = process.argv.slice(2);
const driver = (await presentDrivers()).find(({ name }) => name === driverName);
if (driver === undefined) throw new Error(`There is no driver ${driverName}.`);
const { events, projections, close } = await openSqliteStores({ path, driver });

async function appends(name: string, stream: (round: number) => string): Promise<void> {
  const heads = new Map<string, number>();
  for (let round = 0; round < 12; round++) {
    const head = heads.get(stream(round));
    writeSync(1, `begin ${name} ${round}\n`);
    heads.set(stream(round), await store(events, stream(round), newFacts(2), head ?? 'none'));
    writeSync(1, `end ${name} ${round}\n`);
  }
}

await appends('draft', () => 'draft-_.a');
await appends('alone', () => 'session-_.a');
await appends('lease', () => 'lease-node');
await appends('turns', (round) => `session-_.${round % 3}`);
for (let round = 0; round < 12; round++) {
  writeSync(1, `begin projection ${round}\n`);
  const expected = round === 0 ? undefined : String(round - 1);
  await projections.commit('list', { expected, checkpoint: String(round), put: [], remove: [] });
  writeSync(1, `end projection ${round}\n`);
  writeSync(1, `begin mixed ${round}\n`);
  await store(events, 'session-_.mixed', newFacts(1), round === 0 ? 'none' : round - 1);
  writeSync(1, `end mixed ${round}\n`);
}
await close();
