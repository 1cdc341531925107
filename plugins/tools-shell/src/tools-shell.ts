import { definePlugin, LOGGER, SANDBOX, TOOLS, type Tools, type ToolSource } from '@perdure/plugin-api';
import { shellConfiguration } from './configuration.js';
import { shellTools } from './shell-tools.js';
import { version } from './version.js';

/** Commands for the workspace of each session. */
export const toolsShell = definePlugin({
  name: 'tools-shell',
  api: 1,
  version,
  config: shellConfiguration.prefault({}),
  provides: [TOOLS],
  wants: [SANDBOX, LOGGER],
  setup: ({ config, find, provide }) => {
    const sandbox = find(SANDBOX);
    const mayLeaveOut = config.mode === 'safe' && config.withoutSandbox === 'leave-out';
    let isOffered = !mayLeaveOut;
    const tools = ({ workspace }: Parameters<ToolSource['tools']>[0]): Tools =>
      isOffered ? shellTools({ workspace, sandbox, config }) : {};
    provide(TOOLS, { name: 'tools-shell', tools });
    return {
      // Found out once: the tools of a session do not change while its runtime goes on.
      start: async () => {
        if (!mayLeaveOut) return;
        isOffered = (await sandbox?.preflight())?.usable === true;
        if (!isOffered) find(LOGGER)?.log('warn', 'There is no tool for commands: no sandbox can be used here.');
      },
    };
  },
});
