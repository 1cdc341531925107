import { PerdureError, type LanguageModel } from '@perdure/plugin-api';
import { openAiCompatibleModel } from '@perdure/model-openai-compatible';
import type { PerdureConfig } from './perdure-config.js';

export const DEFAULT_KEY_VARIABLE = 'PERDURE_API_KEY';

/** What the command line says of the model. */
export interface ModelFlags {
  readonly baseUrl?: string;
  readonly modelId?: string;
  readonly apiKeyEnv?: string;
}

/** A model behind an OpenAI-compatible endpoint, and where its key comes from. */
export interface ModelEndpoint {
  readonly baseUrl: string;
  readonly modelId: string;
  /** The variable that someone named: it must be set. */
  readonly keyVariable?: string;
}

/** The endpoint of the command line, completed from the configuration. Throws PERDURE_CONFIGURATION for half of one. */
export function endpointOf(flags: ModelFlags, config: PerdureConfig): ModelEndpoint | undefined {
  const isFlagged = flags.baseUrl !== undefined || flags.modelId !== undefined;
  const baseUrl = flags.baseUrl ?? config.baseUrl;
  const modelId = flags.modelId ?? config.modelId;
  if (!isFlagged && baseUrl === undefined && modelId === undefined) return undefined;
  if (baseUrl === undefined) throw missing('baseUrl', 'modelId', '--base-url');
  if (modelId === undefined) throw missing('modelId', 'baseUrl', '--model-id');
  const keyVariable = flags.apiKeyEnv ?? config.apiKeyEnv;
  return { baseUrl, modelId, ...(keyVariable === undefined ? {} : { keyVariable }) };
}

/** The key of an endpoint, when it needs one. Throws PERDURE_CONFIGURATION for a named variable that is not set. */
export function keyOf(
  { keyVariable }: ModelEndpoint,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const key = environment[keyVariable ?? DEFAULT_KEY_VARIABLE];
  if (key !== undefined && key !== '') return key;
  if (keyVariable === undefined) return undefined;
  const reason = `the environment variable ${keyVariable} is not set`;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: 'apiKeyEnv', reason });
}

/** The model of an endpoint; without a key when nothing will be asked of it. */
export function modelOf({ baseUrl, modelId }: ModelEndpoint, apiKey: string | undefined): LanguageModel {
  return openAiCompatibleModel({ baseUrl, modelId, ...(apiKey === undefined ? {} : { apiKey }) });
}

function missing(field: string, given: string, flag: string): PerdureError {
  const reason = `${given} is given without it; add ${flag}`;
  return new PerdureError('PERDURE_CONFIGURATION', { field, reason });
}
