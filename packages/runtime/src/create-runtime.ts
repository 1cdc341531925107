import { createRuntime as createBareRuntime, type PerdureRuntime } from '@perdure/core';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { chooseDefaults, optionOf, type DefaultPlugin } from './default-plugins.js';
import { providedTokens } from './provided-tokens.js';
import type { RuntimeOptions } from './runtime-options.js';

/**
 * Puts a runtime together from the default plugins and the host's. A default is left out when a plugin of the host
 * provides a token of it that has room for one; a store or a policy of the defaults that fails ends the start with its
 * own error.
 *
 * Throws PERDURE_CONFIGURATION naming the option, and what the plugins throw; nothing is left running then.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<PerdureRuntime> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalid('options', 'they are an object');
  if (!Array.isArray(options.plugins ?? [])) throw invalid('plugins', 'it is a list');
  const { storePath, permissions, approvals, shell, redaction, ...rest } = options;
  const { plugins = [], pluginRoot = process.cwd() } = options;
  const provided = await providedTokens(plugins, pluginRoot);
  const defaults = chooseDefaults({ storePath, permissions, approvals, shell, redaction }, { plugins, provided });
  try {
    return await createBareRuntime({ ...rest, plugins: [...defaults, ...plugins] });
  } catch (error) {
    throw asOption(error, defaults);
  }
}

/** What failed in a default plugin is told as the host configured it: by the plugin's own error and the option. */
function asOption(error: unknown, defaults: readonly DefaultPlugin[]): unknown {
  if (!isPerdureError(error)) return error;
  const failed = String(error.data['plugin']);
  if (!defaults.some(({ plugin }) => plugin.name === failed)) return error;
  const option = optionOf[failed];
  const { cause } = error;
  if (error.code === 'PERDURE_PLUGIN_INVALID' && option !== undefined) {
    const field = String(error.data['field']).replace(/^config/, option);
    return new PerdureError('PERDURE_CONFIGURATION', { field, reason: String(error.data['reason']) }, { cause: error });
  }
  if (error.code !== 'PERDURE_PLUGIN_FAILED' || !isPerdureError(cause)) return error;
  if (failed !== 'policy-permission' || cause.code !== 'PERDURE_CONFIGURATION') return cause;
  const { field = '', reason = '' } = cause.data;
  return new PerdureError('PERDURE_CONFIGURATION', { field: `${option}.${field}`, reason }, { cause });
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field, reason });
}
