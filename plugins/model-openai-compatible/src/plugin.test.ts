import { inspect } from 'node:util';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { isPerdureError, MODELS, type ModelSource, type PluginContext } from '@perdure/plugin-api';
import { startModelServer } from '@perdure/testing';
import { afterEach, describe, expect, test } from 'vitest';
import plugin, { modelOpenAiCompatible } from './index.js';

const KEY = 'PERDURE_TEST_MODEL_KEY';
const SECRET = 'sk-do-not-show';
const endpoint = { baseUrl: 'https://api.example.com/v1', modelId: 'm' };

afterEach(() => {
  delete process.env[KEY];
});

function refuse(): never {
  throw new Error('The plugin needs nothing.');
}

function parses(config: unknown): boolean {
  return modelOpenAiCompatible.config.safeParse(config).success;
}

/** What the plugin provides, with a configuration that its schema has checked. */
async function setUp(config: unknown): Promise<ModelSource> {
  const provided: ModelSource[] = [];
  const context = {
    config: modelOpenAiCompatible.config.parse(config),
    get: refuse,
    find: refuse,
    provide: (token: unknown, value: ModelSource) => {
      expect(token).toBe(MODELS);
      provided.push(value);
    },
  } as unknown as PluginContext<never>;
  await modelOpenAiCompatible.setup(context);
  expect(provided).toHaveLength(1);
  return provided[0] ?? { models: {} };
}

async function failure(config: unknown): Promise<unknown> {
  return setUp(config).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the plugin', () => {
  test('is what its package says', () => {
    expect(plugin).toBe(modelOpenAiCompatible);
    expect(plugin).toMatchObject({ name: 'model-openai-compatible', api: 1, provides: [MODELS], needs: [], wants: [] });
    expect(plugin.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test('offers its models under the configured names', async () => {
    const { models } = await setUp({ models: { fast: endpoint, deep: { ...endpoint, modelId: 'n' } } });
    expect(Object.keys(models)).toEqual(['fast', 'deep']);
    expect([models['fast']?.modelId, models['deep']?.modelId]).toEqual(['m', 'n']);
  });

  test('takes the key from the environment, once', async () => {
    const server = await startModelServer({ script: () => ({}) });
    process.env[KEY] = SECRET;
    const { models } = await setUp({ models: { fast: { ...endpoint, baseUrl: server.url, apiKeyEnv: KEY } } });
    delete process.env[KEY];
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] }];
    await (models['fast'] as LanguageModelV3).doGenerate({ prompt });
    expect(server.requestHeaders[0]?.authorization).toBe(`Bearer ${SECRET}`);
    expect(inspect(models, { depth: 20, showHidden: true }) + JSON.stringify(models)).not.toContain(SECRET);
    await server.close();
  });

  test.each([
    ['models.fast.apiKeyEnv', { ...endpoint, apiKeyEnv: KEY }],
    ['models.fast.apiKey', { ...endpoint, apiKeyEnv: KEY, apiKey: SECRET }],
    ['models.fast.apiKey', { ...endpoint, apiKey: `${SECRET}\n` }],
    ['models.fast.baseUrl', { ...endpoint, baseUrl: 'ws://api.example.com' }],
    ['models.fast.modelId', { ...endpoint, modelId: '' }],
    ['models.fast.headers.x-a', { ...endpoint, headers: { 'x-a': 'é' } }],
  ])('refuses what is wrong by the name %s, without a secret', async (field, model) => {
    const error = await failure({ models: { fast: model } });
    expect(isPerdureError(error, 'PERDURE_CONFIGURATION')).toBe(true);
    expect(error).toMatchObject({ data: { field } });
    expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
  });

  test('refuses a variable that is empty as one that is missing', async () => {
    process.env[KEY] = '';
    const error = await failure({ models: { fast: { ...endpoint, apiKeyEnv: KEY } } });
    expect(error).toMatchObject({
      data: { field: 'models.fast.apiKeyEnv', reason: expect.stringContaining(KEY) as string },
    });
  });

  test('has a schema that knows its members', () => {
    expect(parses({ models: {} })).toBe(true);
    expect(parses({})).toBe(false);
    expect(parses({ models: { fast: { ...endpoint, model: 'm' } } })).toBe(false);
  });
});
