import { definePlugin, TOOLS } from '@perdure/plugin-api';
import { z } from 'zod';
import { generateObjectTool } from './generate-object-tool.js';
import { version } from './version.js';

const tools = { generate_object: generateObjectTool };

/** Has a model make an object after a schema, for a model that hands on the schema and what it is about. */
export const toolsObjects = definePlugin({
  name: 'tools-objects',
  api: 1,
  version,
  config: z.strictObject({}).prefault({}),
  provides: [TOOLS],
  setup: ({ provide }) => {
    provide(TOOLS, { name: 'tools-objects', tools: () => tools });
    return {};
  },
});
