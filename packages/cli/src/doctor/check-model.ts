import { MODELS, reasonOf } from '@perdure/plugin-api';
import { providedTokens } from '@perdure/runtime';
import { z } from 'zod';
import { endpointOf, keyOf, type ModelEndpoint, type ModelFlags } from '../config/model-endpoint.js';
import type { Settings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { advice } from '../terminal/advice.js';
import { fail, failed, ok, warn, type Check } from './check.js';

const TIMEOUT_MS = 3_000;
const modelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** Whether there is a model to ask, and when it is behind an endpoint whether that answers. Never shows the key. */
export async function checkModel(
  settings: Settings,
  flags: ModelFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Check> {
  try {
    const endpoint = endpointOf(flags, settings.config);
    if (endpoint !== undefined) return await checkEndpoint(endpoint, keyOf(endpoint, environment));
    const { model, models = {} } = settings.config.agent ?? {};
    if (typeof model === 'object')
      return ok('model', `${model.modelId} of ${model.provider}, made by the configuration`);
    const names = Object.keys(models);
    if (names.length > 0) return ok('model', `made by the configuration: ${names.join(', ')}`);
    if ((await providedTokens(settings.plugins, settings.pluginRoot)).has(MODELS.name)) {
      return ok('model', 'offered by a plugin');
    }
    return warn('model', 'none is configured', advice.PERDURE_MODEL_MISSING ?? '');
  } catch (error) {
    return failed('model', error);
  }
}

async function checkEndpoint({ baseUrl, modelId }: ModelEndpoint, key: string | undefined): Promise<Check> {
  const url = `${baseUrl.replace(/\/+$/, '')}/models`;
  let response: Response;
  try {
    response = await fetch(url, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    });
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);
    const shown = key === undefined ? reason : reason.replaceAll(key, '[key]');
    return fail(
      'model',
      `${url} does not answer: ${shown}`,
      'Check the URL, and that the service runs.',
      exitCodes.failed,
    );
  }
  const { status } = response;
  if (status === 401 || status === 403) {
    const fix = advice.PERDURE_MODEL_AUTHENTICATION ?? '';
    return fail(
      'model',
      `${url} refuses ${key === undefined ? 'without a key' : 'the key'} (${status})`,
      fix,
      exitCodes.failed,
    );
  }
  if (!response.ok) return warn('model', `${url} answers ${status}`, 'The model may work all the same: try a prompt.');
  const parsed = modelList.safeParse(await response.json().catch(() => undefined));
  if (parsed.success && !parsed.data.data.some(({ id }) => id === modelId)) {
    return warn(
      'model',
      `${url} does not list "${modelId}"`,
      'Check modelId; some endpoints take more than they list.',
    );
  }
  return ok('model', `${modelId} at ${baseUrl}`);
}
