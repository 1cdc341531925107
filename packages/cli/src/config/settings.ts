import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { PerdureError, type PluginLike } from '@perdure/plugin-api';
import { policyPermission, type PermissionRules, type ShellOptions } from '@perdure/runtime';
import { checkRule } from './check-config.js';
import { findConfig } from './find-config.js';
import { loadConfig } from './load-config.js';
import { isAddress, OWN_FOLDER, storePlugins } from './store-server.js';
import type { ApprovalMode, ApprovalsConfig, PerdureConfig } from './perdure-config.js';

/** What the command line says, as far as several commands share it. */
export interface PlaceFlags {
  readonly workspace?: string;
  readonly config?: string;
  readonly store?: string;
}

/** What may be done: rules, commands, and who is asked. */
export interface RuleFlags {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly shell?: 'safe' | 'off';
  readonly approvals?: ApprovalMode;
}

/** Command line and configuration file together. */
export interface Settings {
  /** Real path of the folder that the command is about. */
  readonly workspace: string;
  readonly configFile: string | undefined;
  readonly config: PerdureConfig;
  /** The folder from which plugin packages are looked for. */
  readonly pluginRoot: string;
  readonly plugins: readonly PluginLike[];
  readonly permissions: PermissionRules | undefined;
  /** Whether the command line names a server that keeps the sessions; its plugins are among those above. */
  readonly hasStoreServer: boolean;
  readonly storePath: string | undefined;
  readonly shell: ShellOptions | 'off';
  readonly approvals: ApprovalsConfig;
  /** What of both the command line says itself. */
  readonly shellFlag: RuleFlags['shell'];
  readonly approvalsFlag: RuleFlags['approvals'];
}

/** Throws PERDURE_CONFIGURATION that names the field, and the file when it is the file's. */
export async function resolveSettings(flags: PlaceFlags & RuleFlags): Promise<Settings> {
  const workspace = folderOf(flags.workspace ?? '.');
  const configFile = flags.config === undefined ? findConfig(workspace) : resolve(flags.config);
  const config = configFile === undefined ? {} : await loadConfig(configFile);
  const permissions = permissionsOf(config, flags);
  const pluginRoot = configFile === undefined ? workspace : dirname(configFile);
  const address = flags.store !== undefined && isAddress(flags.store) ? flags.store : undefined;
  const stores = address === undefined ? [] : await storePlugins(address, [pluginRoot, process.cwd(), OWN_FOLDER]);
  const { path } = config.store ?? {};
  const fromFile = path === undefined || configFile === undefined ? undefined : resolve(dirname(configFile), path);
  return {
    workspace,
    configFile,
    config,
    pluginRoot,
    plugins: [...(config.plugins ?? []), ...stores],
    permissions,
    hasStoreServer: address !== undefined,
    storePath: storePathOf(flags.store, address, fromFile),
    shell: shellOf(config, configFile, flags),
    approvals: { ...config.approvals, ...(flags.approvals === undefined ? {} : { mode: flags.approvals }) },
    shellFlag: flags.shell,
    approvalsFlag: flags.approvals,
  };
}

/** A server takes the place of any file. */
function storePathOf(flag: string | undefined, address: string | undefined, fromFile: string | undefined) {
  if (address !== undefined) return undefined;
  return flag === undefined ? fromFile : resolve(flag);
}

/** A command that could change the configuration would be code that the next run trusts. */
function shellOf(
  { shell = {} }: PerdureConfig,
  configFile: string | undefined,
  flags: RuleFlags,
): ShellOptions | 'off' {
  if ((flags.shell ?? shell.mode) === 'off') return 'off';
  const hidden = configFile === undefined ? [] : [realpathSync.native(configFile)];
  return {
    ...shell,
    ...(flags.shell === undefined ? {} : { mode: flags.shell }),
    hidden: Array.isArray(shell.hidden ?? []) ? [...(shell.hidden ?? []), ...hidden] : hidden,
  };
}

/** The rules of the file, and those of the command line beside them; never in their place. */
function permissionsOf({ permissions }: PerdureConfig, flags: RuleFlags): PermissionRules | undefined {
  const { allow = [], deny = [] } = flags;
  for (const [name, rules] of Object.entries({ '--allow': allow, '--deny': deny })) {
    for (const rule of rules) {
      checkRule(rule, (reason) => new PerdureError('PERDURE_CONFIGURATION', { field: `${name} ${rule}`, reason }));
    }
  }
  if (allow.length === 0 && deny.length === 0) return permissions;
  const usual = policyPermission.config.parse({}) as Required<PermissionRules>;
  return {
    ...permissions,
    allow: [...(permissions?.allow ?? usual.allow), ...allow],
    deny: [...(permissions?.deny ?? usual.deny), ...deny],
  };
}

function folderOf(workspace: string): string {
  const path = isAbsolute(workspace) ? workspace : resolve(workspace);
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    const reason = `"${path}" is not a folder that can be used`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'workspace', reason }, { cause });
  }
  throw new PerdureError('PERDURE_CONFIGURATION', { field: 'workspace', reason: `"${path}" is not a folder` });
}
