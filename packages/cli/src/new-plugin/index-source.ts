/** The index of a new plugin: what its port's files export, and the plugin by name and as the default. */
export function indexSource(exports: string): string {
  return `${exports}\nexport { plugin, plugin as default } from './plugin.js';\n`;
}
