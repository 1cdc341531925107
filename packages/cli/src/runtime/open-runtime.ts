import { providedTokens, createRuntime, policyBudget, type PerdureRuntime } from '@perdure/runtime';
import {
  ARTIFACT_STORE,
  ASKER,
  BUDGET_GUARDS,
  EVENT_STORE,
  FACTS,
  NODE_PRESENCE,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
  type PluginLike,
} from '@perdure/plugin-api';
import type { Settings } from '../config/settings.js';
import type { ScreenLogger } from '../terminal/screen-logger.js';

/** What readers of sessions need of the configured plugins. */
const STORE_TOKENS = [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE, NODE_PRESENCE, FACTS];

/** A runtime to run agents with: everything that is configured, and the plugins that the command adds. */
export async function openRuntime(
  settings: Settings,
  logger: ScreenLogger,
  added: readonly PluginLike[] = [],
): Promise<PerdureRuntime> {
  const { permissions, storePath, pluginRoot, plugins, config } = settings;
  // A budget that was set in one process is kept by all; a configuration may bring it with prices.
  const hasBudget = (await providedTokens(plugins, pluginRoot)).has(BUDGET_GUARDS.name);
  const runtime = await createRuntime({
    plugins: [...(hasBudget ? [] : [policyBudget]), ...plugins, ...added],
    pluginRoot,
    logger,
    // A command works on what it is told to. The sessions of others are not its own, whatever they wait for.
    keepsSessions: false,
    ...(config.secrets === undefined ? {} : { secrets: config.secrets }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(storePath === undefined ? {} : { storePath }),
  });
  await logger.release();
  return runtime;
}

/** A runtime to read sessions with: of the configured plugins those alone that keep sessions or know their facts. */
export async function openStore(settings: Settings, logger: ScreenLogger): Promise<PerdureRuntime> {
  const { pluginRoot } = settings;
  const plugins: PluginLike[] = [];
  for (const plugin of settings.plugins) {
    const provided = await providedTokens([plugin], pluginRoot);
    if (STORE_TOKENS.some(({ name }) => provided.has(name))) plugins.push(plugin);
  }
  const { secrets: _, ...config } = settings.config;
  return openRuntime({ ...settings, plugins, config, permissions: undefined }, logger);
}

/** Whether one of the configured plugins asks persons itself. */
export async function hasAsker({ plugins, pluginRoot }: Settings): Promise<boolean> {
  return (await providedTokens(plugins, pluginRoot)).has(ASKER.name);
}
