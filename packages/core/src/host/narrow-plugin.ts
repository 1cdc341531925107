import { PerdureError, type Plugin, type Token } from '@perdure/plugin-api';

/**
 * The plugin as if it provided these tokens alone: of what else it provides nothing is taken. Throws
 * PERDURE_PLUGIN_INVALID unless the names are ones of tokens that it provides.
 */
export function narrowPlugin(plugin: Plugin, only: unknown): Plugin {
  if (only === undefined) return plugin;
  const refuse = (reason: string): never => {
    throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: plugin.name, field: 'only', reason });
  };
  if (!Array.isArray(only) || only.length === 0) return refuse('it is a list of names of tokens');
  const names: readonly unknown[] = only;
  const { name, api, version, config, needs, wants } = plugin;
  const missing = names.find((wanted) => !plugin.provides.some((token) => token.name === wanted));
  if (missing !== undefined) return refuse(`the plugin does not provide "${String(missing)}"`);
  const isTaken = (token: Token<unknown>): boolean => names.includes(token.name);
  const left = plugin.provides.filter((token) => !isTaken(token));
  return {
    name,
    api,
    version,
    config,
    needs,
    wants,
    provides: plugin.provides.filter(isTaken),
    setup: (context) =>
      plugin.setup({
        ...context,
        provide: (token, value) => {
          if (!left.some(({ key }) => key === token.key)) context.provide(token, value);
        },
      }),
  };
}
