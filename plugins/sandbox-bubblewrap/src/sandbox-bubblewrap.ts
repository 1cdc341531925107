import { isAbsolute, normalize } from 'node:path';
import { definePlugin, LOGGER, SANDBOX } from '@perdure/plugin-api';
import { z } from 'zod';
import { createBubblewrapSandbox } from './bubblewrap-sandbox.js';
import { version } from './version.js';

const absolutePath = z.string().refine((path) => isAbsolute(path) && normalize(path) === path, {
  message: 'must be an absolute path without "..", and without "/" at its end',
});

const config = z.strictObject({
  /** Absolute path of bwrap. It is never looked for in PATH, which can lead into a workspace. */
  program: absolutePath.exactOptional(),
  /** Folders and files of the machine that commands may read beside the system's programs, such as a toolchain. */
  readOnlyPaths: z.array(absolutePath).default([]),
});

/** Closes commands in with bubblewrap. Linux only. */
export const sandboxBubblewrap = definePlugin({
  name: 'sandbox-bubblewrap',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [SANDBOX],
  wants: [LOGGER],
  setup: ({ config: options, find, provide }) => {
    const sandbox = createBubblewrapSandbox(options);
    provide(SANDBOX, sandbox);
    return {
      // Without a sandbox a runtime is still of use: every command is refused, and the operator is told now.
      start: async () => {
        const { issues } = await sandbox.preflight();
        for (const { code, message, fixes } of issues) {
          find(LOGGER)?.log('warn', `Commands cannot be closed in: ${[message, ...fixes].join(' ')}`, { code });
        }
      },
    };
  },
});
