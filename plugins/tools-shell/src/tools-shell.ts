import { definePlugin, SANDBOX, TOOLS } from '@perdure/plugin-api';
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
  // Without a sandbox the tool is there and refuses: a session must not change its tools with the machine.
  wants: [SANDBOX],
  setup: ({ config, find, provide }) => {
    const sandbox = find(SANDBOX);
    provide(TOOLS, { name: 'tools-shell', tools: ({ workspace }) => shellTools({ workspace, sandbox, config }) });
    return {};
  },
});
