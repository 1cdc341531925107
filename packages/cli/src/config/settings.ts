import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { PerdureError, type PluginLike } from '@perdure/plugin-api';
import { policyPermission, type PermissionRules } from '@perdure/runtime';
import { checkRule } from './check-config.js';
import { findConfig } from './find-config.js';
import { loadConfig } from './load-config.js';
import type { PerdureConfig } from './perdure-config.js';

/** What the command line says, as far as several commands share it. */
export interface PlaceFlags {
  readonly workspace?: string;
  readonly config?: string;
  readonly store?: string;
}

export interface RuleFlags {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
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
  readonly storePath: string | undefined;
}

/** Throws PERDURE_CONFIGURATION that names the field, and the file when it is the file's. */
export async function resolveSettings(flags: PlaceFlags & RuleFlags): Promise<Settings> {
  const workspace = folderOf(flags.workspace ?? '.');
  const configFile = flags.config === undefined ? findConfig(workspace) : resolve(flags.config);
  const config = configFile === undefined ? {} : await loadConfig(configFile);
  const permissions = permissionsOf(config, flags);
  const { path } = config.store ?? {};
  const fromFile = path === undefined || configFile === undefined ? undefined : resolve(dirname(configFile), path);
  return {
    workspace,
    configFile,
    config,
    pluginRoot: configFile === undefined ? workspace : dirname(configFile),
    plugins: config.plugins ?? [],
    permissions,
    storePath: flags.store === undefined ? fromFile : resolve(flags.store),
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
