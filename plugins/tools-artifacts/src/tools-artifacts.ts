import { definePlugin, READ_ARTIFACT, TOOLS } from '@perdure/plugin-api';
import { z } from 'zod';
import { readArtifactTool } from './read-artifact.js';
import { version } from './version.js';

const tools = { [READ_ARTIFACT]: readArtifactTool };

/** Reads on in what was too long to be shown: outputs of tools, and attached files. */
export const toolsArtifacts = definePlugin({
  name: 'tools-artifacts',
  api: 1,
  version,
  config: z.strictObject({}).prefault({}),
  provides: [TOOLS],
  setup: ({ provide }) => {
    provide(TOOLS, { name: 'tools-artifacts', tools: () => tools });
    return {};
  },
});
