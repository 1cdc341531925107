import { definePlugin, TOOLS } from '@perdure/plugin-api';
import { z } from 'zod';
import { batchTool } from './batch-tool.js';
import { version } from './version.js';

/** Offers the tool `batch`. */
export const toolsBatch = definePlugin({
  name: 'tools-batch',
  api: 1,
  version,
  config: z.strictObject({}).prefault({}),
  provides: [TOOLS],
  setup: ({ provide }) => {
    provide(TOOLS, { name: 'tools-batch', tools: () => ({ batch: batchTool }) });
    return {};
  },
});
