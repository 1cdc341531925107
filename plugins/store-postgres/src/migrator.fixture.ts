import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { openPostgresStores } from './open-postgres-stores.js';

/** A process that opens the stores, `url schema`, when its standard input ends, and appends one fact. */
const [url = '', schema = ''] = process.argv.slice(2);
writeSync(1, 'ready\n');
await once(process.stdin.resume(), 'end');
const { events, close } = await openPostgresStores({ url, schema });
const fact = { id: crypto.randomUUID(), type: 'Opened', payload: '{}', metadata: '{}' };
const result = await events.append(`session-_.${process.pid}`, [fact], { expected: 'none' });
writeSync(1, `${result.status}\n`);
await close();
