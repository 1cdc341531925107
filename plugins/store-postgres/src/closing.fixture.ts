import { writeSync } from 'node:fs';
import { newFacts, store } from './facts.fixture.js';
import { openPostgresStores } from './open-postgres-stores.js';

/** A process that follows the stores, `url schema`, and closes them. Nothing but that lets it end. */
const [url = '', schema = ''] = process.argv.slice(2);
const { events, close } = await openPostgresStores({ url, schema });
await store(events, 'session-_.a', newFacts(1), 'none');
let followed = 0;
const following = (async () => {
  for await (const { facts } of events.subscribe({ all: true })) {
    followed += facts.length;
    if (followed === 1) setTimeout(() => void close().then(() => writeSync(1, 'closed\n')), 50);
  }
})();
await following;
writeSync(1, `followed ${followed}\n`);
