import { z } from 'zod';
import { defineEvent } from './define-event.js';

export const activePlugin = z.strictObject({ name: z.string(), version: z.string(), digest: z.string() });
export type ActivePlugin = z.output<typeof activePlugin>;

/** The plugins that serve the session from here on; the whole set. */
export const pluginSetChanged = defineEvent({
  type: 'PluginSetChanged',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ plugins: z.array(activePlugin) }),
  wire: { type: 'plugin_set_changed', payload: (fact) => ({ plugins: fact.plugins }) },
});
