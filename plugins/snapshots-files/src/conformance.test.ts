import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSnapshotStore } from '@perdure/testing/conformance';
import { FileSessionStore } from './file-session-store.js';

describeSnapshotStore({
  name: 'files',
  capabilities: { shared: true, durable: true },
  create: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perdure-snapshots-'));
    const open = async () => new FileSessionStore(folder);
    const dispose = async () => rmSync(folder, { recursive: true });
    return { store: await open(), reopen: open, openSecond: open, dispose };
  },
});
