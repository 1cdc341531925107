import { definePlugin, PLUGIN_API, SNAPSHOT_STORE } from '@perdure/plugin-api';
import { z } from 'zod';
import { FileSessionStore } from './file-session-store.js';
import { version } from './version.js';

/** Session snapshots as files of a folder. */
export const snapshotsFiles = definePlugin({
  name: 'snapshots-files',
  api: PLUGIN_API,
  version,
  config: z.strictObject({ path: z.string().min(1) }),
  provides: [SNAPSHOT_STORE],
  setup({ config, provide }) {
    const store = new FileSessionStore(config.path);
    provide(SNAPSHOT_STORE, store);
    return { stop: () => store.close() };
  },
});
