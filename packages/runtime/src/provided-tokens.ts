import { readManifest } from '@perdure/core';
import type { PluginLike } from '@perdure/plugin-api';

/**
 * The names of the tokens that plugins provide, each with the name of its last provider. Of a plugin that is given by
 * the name of its package the manifest is read, and none of its code runs. Throws PERDURE_PLUGIN_NOT_FOUND or
 * PERDURE_PLUGIN_INVALID.
 *
 * @param root the folder from which packages are looked for
 */
export async function providedTokens(
  plugins: readonly PluginLike[],
  root: string,
): Promise<ReadonlyMap<string, string>> {
  const provided = new Map<string, string>();
  for (const like of plugins) {
    const choice = typeof like === 'object' && like !== null && 'plugin' in like ? like : { plugin: like };
    const { plugin, only } = choice;
    // One that is no plugin provides nothing; it is refused when it is loaded.
    const { name, tokens } =
      typeof plugin === 'string'
        ? { name: plugin, tokens: (await readManifest(plugin, root)).provides }
        : { name: plugin?.name, tokens: plugin?.provides?.map((token) => token.name) ?? [] };
    for (const token of tokens) if (isTaken(only, token)) provided.set(token, name);
  }
  return provided;
}

/** What is no list is refused when the plugin is loaded. */
function isTaken(only: unknown, token: string): boolean {
  return !Array.isArray(only) || only.includes(token);
}
