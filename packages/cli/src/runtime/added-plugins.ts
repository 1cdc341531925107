import { includesPlugin, mcpClient, policyBudget, providedTokens, toolsDelegate } from '@perdure/runtime';
import { BUDGET_GUARDS, type Plugin } from '@perdure/plugin-api';
import type { Settings } from '../config/settings.js';

export interface AddedPlugin {
  readonly plugin: Plugin;
  readonly config?: unknown;
}

/**
 * What the command has beside the default plugins, unless the configuration brings its own: a budget that was set in
 * one process is kept by all, work can be handed on where the rules allow `task`, and configured servers are there.
 */
export async function addedPlugins({ plugins, pluginRoot, config }: Settings): Promise<readonly AddedPlugin[]> {
  const added: AddedPlugin[] = [];
  if (!(await providedTokens(plugins, pluginRoot)).has(BUDGET_GUARDS.name)) added.push({ plugin: policyBudget });
  if (!includesPlugin(plugins, toolsDelegate)) added.push({ plugin: toolsDelegate });
  if (config.mcp !== undefined) added.push({ plugin: mcpClient, config: config.mcp });
  return added;
}
