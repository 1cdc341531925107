import { writeSync } from 'node:fs';
import { FileSessionStore } from './file-session-store.js';
import { snapshotOf } from './snapshot.fixture.js';

/** A process that saves snapshots of one session, `folder count`, and says so before and after each. */
const [folder = '', count = ''] = process.argv.slice(2);
const store = new FileSessionStore(folder);
for (let round = 1; round <= Number(count); round++) {
  writeSync(1, `begin ${round}\n`);
  await store.save('k', snapshotOf('s', 1 + (round % 200)));
  writeSync(1, `end ${round}\n`);
}
