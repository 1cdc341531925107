import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { presentDrivers } from './temporary-stores.fixture.js';

/** A process that holds a file for itself, as one does that is just making it: `path driver`. */
const [path = '', driverName = ''] = process.argv.slice(2);
const driver = (await presentDrivers()).find(({ name }) => name === driverName);
if (driver === undefined) throw new Error(`There is no driver ${driverName}.`);
const connection = new driver.DatabaseSync(path);
connection.exec('begin exclusive; create table held (one)');
writeSync(1, 'held\n');
await pause(300);
connection.exec('rollback');
connection.close();
