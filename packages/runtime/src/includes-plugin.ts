import type { Plugin, PluginLike } from '@perdure/plugin-api';

/** Whether a plugin is in a list, as an object or by the name of its package. */
export function includesPlugin(plugins: readonly PluginLike[], { name }: Plugin): boolean {
  return plugins.some((like) => {
    const given = typeof like === 'object' && like !== null && 'plugin' in like ? like.plugin : like;
    return typeof given === 'string' ? given === `@perdure/${name}` : given?.name === name;
  });
}
