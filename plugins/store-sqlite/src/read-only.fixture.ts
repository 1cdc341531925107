import { isPerdureError } from '@perdure/plugin-api';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers } from './temporary-stores.fixture.js';

/** A process without the rights of root that opens stores, `driver path…`, and writes each outcome as a line. */
const [driverName = '', ...paths] = process.argv.slice(2);
const driver = (await presentDrivers()).find(({ name }) => name === driverName);
if (driver === undefined) throw new Error(`There is no driver ${driverName}.`);

const NOBODY = 65_534;
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

for (const path of paths) {
  try {
    await (await openSqliteStores({ path, driver })).close();
    process.stdout.write('opened\n');
  } catch (error) {
    process.stdout.write(`${isPerdureError(error) ? error.code : String(error)}\n`);
  }
}
