import { loadPlugins } from '@perdure/core';
import { PERMISSION, type ToolCallRequest } from '@perdure/plugin-api';
import {
  createPermissionPolicy,
  defaultPlugins,
  includesPlugin,
  policyPermission,
  providedTokens,
} from '@perdure/runtime';
import type { PermissionRules } from '@perdure/runtime';
import { relative, sep } from 'node:path';
import { CONFIG_NAMES } from '../config/find-config.js';
import type { Settings } from '../config/settings.js';
import { addedPlugins } from '../runtime/added-plugins.js';
import { isInside } from '../runtime/store-place.js';
import { failed, ok, warn, type Check } from './check.js';

export function checkConfigFile({ configFile }: Settings): Check {
  return ok('config', configFile ?? `none; ${CONFIG_NAMES.join(', ')} are looked for from the workspace upwards`);
}

/** Loads the configured plugins as a start would, and checks their configuration. They are not set up. */
export async function checkPlugins(settings: Settings): Promise<Check> {
  const { plugins, pluginRoot } = settings;
  try {
    const added = (await addedPlugins(settings)).map(({ plugin }) => plugin);
    const loaded = await loadPlugins(plugins, pluginRoot);
    const provided = await providedTokens(plugins, pluginRoot);
    const kept = defaultPlugins.filter(
      (plugin) =>
        !includesPlugin(plugins, plugin) &&
        !plugin.provides.some(({ cardinality, name }) => cardinality === 'one' && provided.has(name)),
    );
    return ok('plugins', [...kept, ...added, ...loaded.map(({ plugin }) => plugin)].map(({ name }) => name).join(', '));
  } catch (error) {
    return failed('plugins', error);
  }
}

/** A tool that may change the configuration may give itself every permission, from the next run on. */
export async function checkRules(settings: Settings): Promise<Check> {
  const { workspace, configFile, permissions, plugins, pluginRoot } = settings;
  const provider = (await providedTokens(plugins, pluginRoot)).get(PERMISSION.name);
  if (provider !== undefined) return ok('rules', `those of ${provider}`);
  const policy = createPermissionPolicy({ ...(policyPermission.config.parse(permissions ?? {}) as PermissionRules) });
  const paths = configFile !== undefined && isInside(configFile, workspace) ? [configFile] : [];
  const subjects = [...paths.map((path) => relative(workspace, path).replaceAll(sep, '/')), CONFIG_NAMES[0]];
  const open = ['write', 'edit'].find((tool) =>
    subjects.some((subject) => policy.decide(requestOf(tool, subject, workspace)).decision === 'allow'),
  );
  if (open === undefined) return ok('rules', 'no tool may change the configuration unasked');
  const fix = `Add to permissions.deny: "write(**/perdure.config.*)" and "edit(**/perdure.config.*)".`;
  return warn('rules', `"${open}" may change the configuration, and with it these rules`, fix);
}

function requestOf(tool: string, subject: string, workspace: string): ToolCallRequest {
  const about = { callId: 'doctor', sessionId: 'doctor', turnId: undefined, workspace };
  return { ...about, tool, input: {}, effect: 'reconcile', origin: 'model', subjects: [subject] };
}
