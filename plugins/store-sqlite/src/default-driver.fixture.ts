import { defaultDriver } from './driver.js';
import { newFacts, store } from './facts.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';

/** A process that appends with whatever driver is chosen for it: `path`. */
const [path = ''] = process.argv.slice(2);
const { events, close } = await openSqliteStores({ path });
process.stdout.write(`${(await defaultDriver()).name}\n`);
process.stdout.write(`stored ${await store(events, 'session-_.a', newFacts(1), 'none')}\n`);
await close();
