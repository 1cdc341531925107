import { EVENT_STORE_SOURCE } from './event-store-source.js';
import { indexSource } from './index-source.js';
import type { PortSources } from './port-sources.js';
import { pluginNameOf } from './new-plugin-name.js';

/** A plugin with a complete event store in memory, in which one's own storage takes the place of two maps. */
export function eventStoreSources(name: string): PortSources {
  const plugin = pluginNameOf(name);
  return {
    token: 'event-store',
    summary: 'An event store that keeps its streams in memory.',
    nextStep: NEXT_STEP,
    needsEvents: true,
    needsTesting: true,
    files: new Map([
      ['src/index.ts', indexSource(`export { OwnEventStore } from './event-store.js';`)],
      ['src/plugin.ts', pluginSource(plugin)],
      ['src/event-store.ts', EVENT_STORE_SOURCE],
      ['src/conformance.test.ts', conformance(plugin)],
    ]),
  };
}

const NEXT_STEP = `Put your own storage into \`src/event-store.ts\`. \`src/conformance.test.ts\` runs all that the
port promises; declare \`durable\` and \`shared\` there and in the store when they hold.`;

function pluginSource(plugin: string): string {
  return `import { createRequire } from 'node:module';
import { definePlugin, EVENT_STORE, PLUGIN_API } from '@perdure/plugin-api';
import { z } from 'zod';
import { OwnEventStore } from './event-store.js';

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string };

export const plugin = definePlugin({
  name: '${plugin}',
  api: PLUGIN_API,
  version: manifest.version,
  config: z.strictObject({}),
  provides: [EVENT_STORE],
  setup({ provide }) {
    const store = new OwnEventStore();
    provide(EVENT_STORE, store);
    return { stop: () => store.close() };
  },
});
`;
}

function conformance(plugin: string): string {
  return `import { describeEventStore } from '@perdure/testing/conformance';
import { OwnEventStore } from './event-store.js';

describeEventStore({
  name: '${plugin}',
  capabilities: { shared: false, durable: false },
  create: async () => ({ store: new OwnEventStore() }),
});
`;
}
