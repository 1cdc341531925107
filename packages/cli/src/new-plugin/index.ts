export { checkNewPluginName, pluginNameOf } from './new-plugin-name.js';
export { newPluginFiles, newPluginPorts } from './new-plugin-files.js';
export type { NewPlugin, NewPluginPort } from './new-plugin-files.js';
export { ownVersion } from './own-version.js';
export { writeNewPlugin } from './write-new-plugin.js';
