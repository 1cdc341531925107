import { ASKER, EVENT_STORE, PerdureError, type Plugin, type PluginLike } from '@perdure/plugin-api';
import { policyApproval } from '@perdure/policy-approval';
import { policyPermission } from '@perdure/policy-permission';
import { sandboxBubblewrap } from '@perdure/sandbox-bubblewrap';
import { securityRedaction } from '@perdure/security-redaction';
import { storeSqlite } from '@perdure/store-sqlite';
import { toolsArtifacts } from '@perdure/tools-artifacts';
import { toolsFiles } from '@perdure/tools-files';
import { toolsShell } from '@perdure/tools-shell';
import { includesPlugin } from './includes-plugin.js';
import type { RuntimeOptions } from './runtime-options.js';
import { storeFiles } from './store-files.js';

/** What every runtime has unless a plugin of the host takes its place, in the order in which it is set up. */
export const defaultPlugins: readonly Plugin[] = [
  storeSqlite,
  toolsFiles,
  toolsArtifacts,
  policyPermission,
  policyApproval,
  sandboxBubblewrap,
  toolsShell,
  securityRedaction,
];

export interface DefaultPlugin {
  readonly plugin: Plugin;
  readonly config: unknown;
}

/** What a host says of the default plugins. */
export type DefaultOptions = {
  readonly [Option in 'storePath' | 'permissions' | 'approvals' | 'shell' | 'redaction']:
    RuntimeOptions[Option] | undefined;
};

/** The options by the plugins that they configure. */
export const optionOf: Readonly<Record<string, keyof DefaultOptions>> = {
  'store-sqlite': 'storePath',
  'policy-permission': 'permissions',
  'policy-approval': 'approvals',
  'tools-shell': 'shell',
  'security-redaction': 'redaction',
};

/** What the host's plugins are: the tokens that they provide, each with its provider, and the plugins themselves. */
export interface HostPlugins {
  readonly plugins: readonly PluginLike[];
  readonly provided: ReadonlyMap<string, string>;
}

/**
 * The default plugins that the host's leave room for, configured by the options. A default is left out when one of the
 * tokens that it provides has room for one and is provided by the host, when the host brings that plugin itself, and
 * when its option is `off`. Throws PERDURE_CONFIGURATION for an option of a default that is left out.
 */
export function chooseDefaults(options: DefaultOptions, host: HostPlugins): readonly DefaultPlugin[] {
  return defaultPlugins.flatMap((plugin) => {
    const option = optionOf[plugin.name];
    const given = option === undefined ? undefined : options[option];
    if (isOff(plugin, options)) return [];
    const replaced = replacementOf(plugin, host);
    if (replaced === undefined) return [{ plugin, config: configOf(plugin, options, host) }];
    if (option === undefined || given === undefined) return [];
    throw new PerdureError('PERDURE_CONFIGURATION', { field: option, reason: replaced });
  });
}

function isOff({ name }: Plugin, { approvals, shell, redaction }: DefaultOptions): boolean {
  if (name === securityRedaction.name) return redaction === 'off';
  if (name === policyApproval.name) return approvals === 'off';
  return (name === toolsShell.name || name === sandboxBubblewrap.name) && shell === 'off';
}

/** What of the host's is in the place of a default. */
function replacementOf(plugin: Plugin, { plugins, provided }: HostPlugins): string | undefined {
  const taken = tokensInPlaceOf(plugin).find((name) => provided.has(name));
  if (taken !== undefined) return `"${provided.get(taken)}" provides "${taken}" in the place of "${plugin.name}"`;
  if (!includesPlugin(plugins, plugin)) return undefined;
  return `"${plugin.name}" is among the plugins, with a configuration of its own`;
}

function tokensInPlaceOf({ name, provides }: Plugin): readonly string[] {
  const own = provides.filter(({ cardinality }) => cardinality === 'one').map((token) => token.name);
  // Who asks persons itself needs no requests that wait.
  return name === policyApproval.name ? [...own, ASKER.name] : own;
}

function configOf({ name }: Plugin, options: DefaultOptions, { provided }: HostPlugins): unknown {
  const { storePath, permissions, approvals, shell, redaction } = options;
  switch (name) {
    case storeSqlite.name:
      return storePath === undefined ? {} : { path: storePath };
    case policyPermission.name:
      return permissions ?? {};
    case policyApproval.name:
      return approvals ?? {};
    case securityRedaction.name:
      return redaction ?? {};
    case toolsShell.name: {
      if (shell !== undefined && (typeof shell !== 'object' || shell === null)) return shell;
      const given = shell ?? {};
      // A command that reaches the sessions could allow itself anything, and write what never happened.
      const stores = provided.has(EVENT_STORE.name) ? [] : storeFiles(storePath);
      const hidden = Array.isArray(given.hidden ?? []) ? [...(given.hidden ?? []), ...stores] : given.hidden;
      return { withoutSandbox: 'leave-out', ...given, hidden };
    }
    default:
      return {};
  }
}
