import type { PortSources } from './port-sources.js';
import { pluginNameOf } from './new-plugin-name.js';
import { indexSource } from './index-source.js';

/** A plugin with one tool. */
export function toolsSources(name: string): PortSources {
  return {
    token: 'tools',
    summary: 'A tool that counts the words of a text.',
    nextStep:
      'Put your own tools into `src/tools.ts`. `src/conformance.test.ts` checks what the port asks of every tool.',
    needsEvents: false,
    needsTesting: false,
    files: new Map([
      ['src/index.ts', indexSource(`export { countWords, ownTools } from './tools.js';`)],
      ['src/plugin.ts', pluginSource(pluginNameOf(name))],
      ['src/tools.ts', TOOLS],
      ['src/conformance.test.ts', CONFORMANCE],
    ]),
  };
}

function pluginSource(plugin: string): string {
  return `import { createRequire } from 'node:module';
import { definePlugin, PLUGIN_API, TOOLS } from '@perdure/plugin-api';
import { z } from 'zod';
import { ownTools } from './tools.js';

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string };

export const plugin = definePlugin({
  name: '${plugin}',
  api: PLUGIN_API,
  version: manifest.version,
  config: z.strictObject({}),
  provides: [TOOLS],
  setup({ provide }) {
    provide(TOOLS, { name: '${plugin}', tools: () => ownTools });
    return {};
  },
});
`;
}

const TOOLS = `import type { Tool, Tools } from '@perdure/plugin-api';
import { z } from 'zod';

const input = z.object({ text: z.string().describe('The text whose words are counted.') });

/**
 * The effect contract says what may be done with a call that was started and never settled, after a crash:
 * 'read' and 'idempotent' run again, 'reconcile' is asked what happened, 'once' (when absent) is never repeated.
 */
export const countWords = {
  description: 'Count the words of a text.',
  inputSchema: input,
  effect: 'read',
  execute: ({ text }: z.output<typeof input>) => ({ words: text.split(/\\s+/).filter((word) => word !== '').length }),
} satisfies Tool;

/** The tools by the names that models use. */
export const ownTools: Tools = { count_words: countWords };
`;

const CONFORMANCE = `import type { PluginContext, ToolSource } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { plugin } from './plugin.js';
import { countWords } from './tools.js';

const sources: ToolSource[] = [];
const context = {
  config: plugin.config.parse({}),
  get: () => [],
  find: () => undefined,
  provide: (_: unknown, source: ToolSource) => void sources.push(source),
};
await plugin.setup(context as unknown as PluginContext<Record<string, never>>);
const tools = sources.flatMap((source) => Object.entries(source.tools({ workspace: undefined })));

test('the plugin brings tools, and the same ones each time', () => {
  expect(tools.length).toBeGreaterThan(0);
  expect(sources.flatMap((source) => Object.entries(source.tools({ workspace: undefined })))).toEqual(tools);
});

test.each(tools)('%s can be offered to a model', (name, tool) => {
  expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(tool.description).toMatch(/\\S/);
  expect(tool.effect).toBeOneOf(['read', 'idempotent', 'reconcile', 'once', undefined]);
  expect(z.toJSONSchema(tool.inputSchema as z.ZodType, { io: 'input' })).toMatchObject({ type: 'object' });
});

test('words are counted', () => {
  expect(countWords.execute({ text: ' one two\\nthree ' })).toEqual({ words: 3 });
  expect(countWords.execute({ text: '' })).toEqual({ words: 0 });
});
`;
