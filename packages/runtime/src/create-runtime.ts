import { createRuntime as createBareRuntime, type PerdureRuntime } from '@perdure/core';
import { isPerdureError, PerdureError, type Plugin } from '@perdure/plugin-api';
import { chooseDefaults, type DefaultPlugin } from './default-plugins.js';
import { providedTokens } from './provided-tokens.js';
import type { RuntimeOptions } from './runtime-options.js';

/**
 * Puts a runtime together from the default plugins and the host's. A default is left out when a plugin of the host
 * provides a token of it that has room for one; a default that is there and fails ends the start with its own error.
 *
 * Throws PERDURE_CONFIGURATION naming the option, and what the plugins throw; nothing is left running then.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<PerdureRuntime> {
  const { storePath, permissions, ...rest } = options;
  const { plugins = [], pluginRoot = process.cwd() } = options;
  const provided = await providedTokens(plugins, pluginRoot);
  const failures: unknown[] = [];
  const defaults = chooseDefaults({ storePath, permissions }, provided).map((each) => required(each, failures));
  try {
    const runtime = await createBareRuntime({ ...rest, plugins: [...defaults, ...plugins] });
    if (failures.length === 0) return runtime;
    await runtime.dispose();
  } catch (error) {
    throw failures[0] ?? error;
  }
  throw failures[0];
}

/** The core goes on without a plugin that fails. Without its store or its policy a host must not. */
function required({ plugin, config }: DefaultPlugin, failures: unknown[]): DefaultPlugin {
  const setup: Plugin['setup'] = async (context) => {
    try {
      return await plugin.setup(context);
    } catch (error) {
      failures.push(named(error));
      throw error;
    }
  };
  return { plugin: { ...plugin, setup }, config };
}

/** The policy names the place of a bad rule in its own configuration; a host has it under `permissions`. */
function named(error: unknown): unknown {
  if (!isPerdureError(error, 'PERDURE_CONFIGURATION')) return error;
  const { field, reason } = error.data;
  if (!/^(?:allow|deny|ask|default)\b/.test(String(field))) return error;
  return new PerdureError('PERDURE_CONFIGURATION', { field: `permissions.${field}`, reason }, { cause: error });
}
