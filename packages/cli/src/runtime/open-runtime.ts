import {
  createRuntime,
  includesPlugin,
  providedTokens,
  toolsShell,
  type PerdureRuntime,
  type RuntimeOptions,
} from '@perdure/runtime';
import {
  ARTIFACT_STORE,
  EVENT_STORE,
  FACTS,
  NODE_PRESENCE,
  PerdureError,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
  type PluginLike,
  type Token,
} from '@perdure/plugin-api';
import type { Settings } from '../config/settings.js';
import { storeFailure } from '../config/store-server.js';
import type { ScreenLogger } from '../terminal/screen-logger.js';
import { addedPlugins } from './added-plugins.js';

/** What readers of sessions need of the configured plugins. */
const STORE_TOKENS = [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE, NODE_PRESENCE, FACTS];

/** Milliseconds that a command which somebody waits for goes on trying to reach a store; a node has more patience. */
const STORE_PATIENCE_MS = 30_000;

/** What a command says of its runtime beside the settings. */
export interface RuntimeAdditions {
  readonly plugins?: readonly PluginLike[];
  /** Absent where a plugin of the configuration decides about it. */
  readonly approvals?: RuntimeOptions['approvals'];
  /** Of a process that is a node: its name, and which sessions it takes. Other commands look after none. */
  readonly node?: { readonly name?: string; readonly placement: NonNullable<RuntimeOptions['placement']> };
}

/** A runtime to run agents with: everything that is configured, and what the command adds. */
export async function openRuntime(
  settings: Settings,
  logger: ScreenLogger,
  { plugins: added = [], approvals, node }: RuntimeAdditions = {},
): Promise<PerdureRuntime> {
  const { permissions, storePath, pluginRoot, plugins, config } = settings;
  const runtime = await createRuntime({
    plugins: [...(await addedPlugins(settings)), ...plugins, ...added],
    pluginRoot,
    logger,
    // A command works on what it is told to. The sessions of others are not its own, whatever they wait for.
    keepsSessions: node !== undefined,
    ...(node === undefined ? { storePatienceMs: STORE_PATIENCE_MS } : { placement: node.placement }),
    ...(node?.name === undefined ? {} : { env: { nodeId: node.name } }),
    ...(config.secrets === undefined ? {} : { secrets: config.secrets }),
    ...(config.redaction === undefined ? {} : { redaction: config.redaction }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(storePath === undefined ? {} : { storePath }),
    ...(approvals === undefined ? {} : { approvals }),
    ...shellOption(settings),
  }).catch((error: unknown) => {
    throw settings.hasStoreServer ? storeFailure(error) : error;
  });
  await logger.release();
  return runtime;
}

/** A shell of the configured plugins is configured there. Throws PERDURE_CONFIGURATION for a flag about it. */
function shellOption({ plugins, shell, shellFlag }: Settings): Pick<RuntimeOptions, 'shell'> {
  if (!includesPlugin(plugins, toolsShell)) return { shell };
  if (shellFlag === undefined) return {};
  const reason = `"${toolsShell.name}" is among the plugins, with a configuration of its own`;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: '--shell', reason });
}

/**
 * A runtime to read sessions with: of the configured plugins those alone that keep sessions or know their facts, and
 * those that provide something else which is `wanted`.
 */
export async function openStore(
  settings: Settings,
  logger: ScreenLogger,
  wanted: readonly Token<unknown>[] = [],
): Promise<PerdureRuntime> {
  const { pluginRoot } = settings;
  const plugins: PluginLike[] = [];
  for (const plugin of settings.plugins) {
    const provided = await providedTokens([plugin], pluginRoot);
    if ([...STORE_TOKENS, ...wanted].some(({ name }) => provided.has(name))) plugins.push(plugin);
  }
  const { secrets: _secrets, mcp: _mcp, ...config } = settings.config;
  return openRuntime(
    { ...settings, plugins, config, permissions: undefined, shell: 'off', shellFlag: undefined },
    logger,
  );
}
