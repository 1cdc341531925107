import { PerdureError, type Plugin } from '@perdure/plugin-api';
import { policyPermission } from '@perdure/policy-permission';
import { storeSqlite } from '@perdure/store-sqlite';
import { toolsFiles } from '@perdure/tools-files';
import type { RuntimeOptions } from './runtime-options.js';

/** What every runtime has unless a plugin of the host takes its place, in the order in which it is set up. */
export const defaultPlugins: readonly Plugin[] = [storeSqlite, toolsFiles, policyPermission];

export interface DefaultPlugin {
  readonly plugin: Plugin;
  readonly config: unknown;
}

/**
 * The default plugins that the host's leave room for, configured by the options. A default is left out when one of the
 * tokens that it provides has room for one and is in `provided`, which has the host's plugins by token name. Throws
 * PERDURE_CONFIGURATION for an option of a default that is left out.
 */
export function chooseDefaults(
  options: { readonly [Option in 'storePath' | 'permissions']: RuntimeOptions[Option] | undefined },
  provided: ReadonlyMap<string, string>,
): readonly DefaultPlugin[] {
  const { storePath, permissions } = options;
  const settings = new Map<Plugin, { readonly option: string; readonly config: unknown }>();
  if (storePath !== undefined) settings.set(storeSqlite, { option: 'storePath', config: { path: storePath } });
  if (permissions !== undefined) settings.set(policyPermission, { option: 'permissions', config: permissions });
  return defaultPlugins.flatMap((plugin) => {
    const set = settings.get(plugin);
    const replaced = plugin.provides.find(({ cardinality, name }) => cardinality === 'one' && provided.has(name));
    if (replaced === undefined) return [{ plugin, config: set?.config ?? {} }];
    if (set === undefined) return [];
    const reason = `"${provided.get(replaced.name)}" provides "${replaced.name}" in the place of "${plugin.name}"`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: set.option, reason });
  });
}
