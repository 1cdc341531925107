import { isAbsolute } from 'node:path';
import { definePlugin, LOGGER, reasonOf, TOOLS, WORKSPACES, type Tools } from '@perdure/plugin-api';
import { z } from 'zod';
import { recordsOf, toolsOf } from './file-tools.js';
import { localWorkspaces } from './local-workspaces.js';
import { createRoot } from './root/root.js';
import { version } from './version.js';

const config = z.strictObject({
  /** Absolute path of the folder for the records of calls. Nodes that share workspaces can share it. */
  recordFolder: z.string().refine(isAbsolute, 'must be an absolute path').exactOptional(),
});

/** File tools for the workspace of each session, and the workspaces themselves: folders of this machine. */
export const toolsFiles = definePlugin({
  name: 'tools-files',
  api: 1,
  version,
  config: config.default({}),
  provides: [TOOLS, WORKSPACES],
  wants: [LOGGER],
  setup: ({ config: { recordFolder }, find, provide }) => {
    const logger = find(LOGGER);
    const records = recordsOf({
      recordFolder,
      onRecordFailure: (error) =>
        logger?.log('warn', 'The record of a file call was not written; a crash may leave its outcome unknown.', {
          reason: reasonOf(error),
        }),
    });
    const none: Tools = {};
    provide(TOOLS, {
      name: 'tools-files',
      tools: ({ workspace }) => (workspace === undefined ? none : toolsOf({ root: createRoot(workspace), records })),
    });
    provide(WORKSPACES, localWorkspaces);
    return {};
  },
});
