import { definePlugin, MODELS, PerdureError, PLUGIN_API, type LanguageModel } from '@perdure/plugin-api';
import { z } from 'zod';
import { createModel } from './open-ai-compatible-model.js';
import { version } from './version.js';

const modelConfig = z.strictObject({
  baseUrl: z.string(),
  modelId: z.string(),
  /** The name of the environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).exactOptional(),
  apiKey: z.string().exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
});
type ModelConfig = z.output<typeof modelConfig>;

/** Offers models of OpenAI-compatible endpoints to all agents, under the names of the configuration. */
export const modelOpenAiCompatible = definePlugin({
  name: 'model-openai-compatible',
  api: PLUGIN_API,
  version,
  config: z.strictObject({ models: z.record(z.string().min(1), modelConfig) }),
  provides: [MODELS],
  setup(context) {
    const models: Record<string, LanguageModel> = Object.create(null) as Record<string, LanguageModel>;
    for (const [name, model] of Object.entries(context.config.models))
      models[name] = configuredModel(model, `models.${name}.`);
    context.provide(MODELS, { models });
    return {};
  },
});

function configuredModel(config: ModelConfig, at: string): LanguageModel {
  const { apiKeyEnv, ...options } = config;
  if (apiKeyEnv === undefined) return createModel(options, at);
  if (options.apiKey !== undefined) throw invalid(`${at}apiKey`, 'cannot be given together with apiKeyEnv');
  const apiKey = process.env[apiKeyEnv];
  if (apiKey === undefined || apiKey === '') {
    throw invalid(`${at}apiKeyEnv`, `the environment variable ${apiKeyEnv} is not set`);
  }
  return createModel({ ...options, apiKey }, at);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field, reason });
}
