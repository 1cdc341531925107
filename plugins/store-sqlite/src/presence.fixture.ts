import { once } from 'node:events';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers } from './temporary-stores.fixture.js';

/** A process that holds the mark of a node, `path driver node`, until it is killed or its standard input ends. */
const [path = '', driverName = '', node = ''] = process.argv.slice(2);
const driver = (await presentDrivers()).find(({ name }) => name === driverName);
if (driver === undefined) throw new Error(`There is no driver ${driverName}.`);
const { presence, close } = await openSqliteStores({ path, driver });
await presence.announce(node);
process.stdout.write('announced\n');
await once(process.stdin.resume(), 'end');
await close();
