import { inspect } from 'node:util';
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { isPerdureError } from '@perdure/plugin-api';
import { scriptByRound, startModelServer, type ModelServer, type Script } from '@perdure/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { openAiCompatibleModel, type OpenAiCompatibleModelOptions } from './open-ai-compatible-model.js';

const servers: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function modelFor(script: Script, options: Partial<OpenAiCompatibleModelOptions> = {}) {
  const server = await startModelServer({ script });
  servers.push(server);
  const model = openAiCompatibleModel({ baseUrl: server.url, modelId: 'm', ...options }) as LanguageModelV3;
  return { model, server };
}

async function partsOf(
  model: LanguageModelV3,
  options: LanguageModelV3CallOptions,
): Promise<readonly LanguageModelV3StreamPart[]> {
  const { stream } = await model.doStream(options);
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const prompt: LanguageModelV3CallOptions['prompt'] = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: [{ type: 'text', text: 'go' }] },
];
const tools: LanguageModelV3CallOptions['tools'] = [
  { type: 'function', name: 'add', description: 'adds', inputSchema: { type: 'object', properties: {} } },
];
const answer = {
  reasoning: 'hm',
  text: 'Hello',
  calls: [
    { name: 'add', input: { a: 1 } },
    { name: 'add', input: { a: 2 } },
  ],
  usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, reasoningTokens: 4 },
};
const usage = {
  inputTokens: { total: 100, noCache: 70, cacheRead: 30, cacheWrite: undefined },
  outputTokens: { total: 20, text: 16, reasoning: 4 },
};

describe('a model of an OpenAI-compatible endpoint', () => {
  test('is one of specification v3 that tells its provider and its id', () => {
    const named = openAiCompatibleModel({ baseUrl: 'http://localhost:1/v1', modelId: 'm', name: 'local' });
    const unnamed = openAiCompatibleModel({ baseUrl: 'https://api.example.com', modelId: 'm' });
    expect([named.specificationVersion, named.provider, named.modelId]).toEqual(['v3', 'local.chat', 'm']);
    expect(unnamed.provider).toBe('openai-compatible.chat');
  });

  test('answers whole, with reasoning, parallel calls and usage', async () => {
    const { model } = await modelFor(() => answer);
    const { content, finishReason, ...rest } = await model.doGenerate({ prompt, tools });
    expect(content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hello' },
      { type: 'tool-call', toolCallId: 'call_0', toolName: 'add', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: '{"a":2}' },
    ]);
    expect(finishReason).toEqual({ unified: 'tool-calls', raw: 'tool_calls' });
    expect(rest.usage).toMatchObject(usage);
    expect(rest.response).toMatchObject({ id: 'chatcmpl-1', modelId: 'm' });
  });

  test('streams reasoning, text and the arguments of calls, and asks for usage', async () => {
    const { model, server } = await modelFor(() => answer);
    const parts = await partsOf(model, { prompt, tools });
    const deltas = parts.flatMap((part) => ('delta' in part ? [`${part.type} ${part.delta}`] : []));
    expect(deltas).toEqual([
      'reasoning-delta h',
      'reasoning-delta m',
      'text-delta He',
      'text-delta llo',
      'tool-input-delta {"a',
      'tool-input-delta ":1}',
      'tool-input-delta {"a',
      'tool-input-delta ":2}',
    ]);
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([
      { type: 'tool-call', toolCallId: 'call_0', toolName: 'add', input: '{"a":1}' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: '{"a":2}' },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' }, usage });
    expect(server.requests[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('sends prompt, tools, settings, key and headers', async () => {
    const { model, server } = await modelFor(() => ({}), { apiKey: 'sk-test', headers: { 'X-Team': 'red' } });
    await model.doGenerate({ prompt, tools, maxOutputTokens: 7, headers: { 'x-call': '1' } });
    expect(server.requests[0]).toMatchObject({
      model: 'm',
      max_tokens: 7,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ type: 'function', function: { name: 'add', description: 'adds' } }],
    });
    expect(server.requestHeaders[0]).toMatchObject({ authorization: 'Bearer sk-test', 'x-team': 'red', 'x-call': '1' });
  });

  test('sends no authorization without a key', async () => {
    const { model, server } = await modelFor(() => ({}));
    await model.doGenerate({ prompt });
    expect(server.requestHeaders[0]).not.toHaveProperty('authorization');
  });

  test('goes on behind a call, whose id may be that of an earlier one', async () => {
    const call = { name: 'add', input: {} };
    const { model, server } = await modelFor(scriptByRound([{ calls: [call] }, { calls: [call] }, { text: 'done' }]));
    const growing: LanguageModelV3CallOptions['prompt'] = [...prompt];
    for (let round = 0; round < 2; round++) {
      const { content } = await model.doGenerate({ prompt: growing, tools });
      expect(content).toMatchObject([{ toolCallId: 'call_0' }]);
      const id = { toolCallId: 'call_0', toolName: 'add' };
      growing.push({ role: 'assistant', content: [{ type: 'tool-call', ...id, input: {} }] });
      growing.push({
        role: 'tool',
        content: [{ type: 'tool-result', ...id, output: { type: 'json', value: [round] } }],
      });
    }
    expect((await model.doGenerate({ prompt: growing, tools })).content).toEqual([{ type: 'text', text: 'done' }]);
    expect(server.requests[2]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_0' }] },
      { role: 'tool', tool_call_id: 'call_0', content: '[1]' },
    ]);
  });

  test.each(['/', '//', ''])('takes a base URL with "%s" at its end', async (end) => {
    const { server } = await modelFor(() => ({ text: 'ok' }));
    const model = openAiCompatibleModel({ baseUrl: `${server.url}${end}`, modelId: 'm' }) as LanguageModelV3;
    expect((await model.doGenerate({ prompt })).content).toEqual([{ type: 'text', text: 'ok' }]);
  });
});

describe('options', () => {
  const good = { baseUrl: 'https://api.example.com/v1', modelId: 'm' };

  test.each([
    ['baseUrl', { ...good, baseUrl: 'api.example.com' }],
    ['baseUrl', { ...good, baseUrl: 'ftp://api.example.com/v1' }],
    ['baseUrl', { ...good, baseUrl: 'file:///etc' }],
    ['baseUrl', { ...good, baseUrl: 'https://user:hunter2@api.example.com/v1' }],
    ['baseUrl', { ...good, baseUrl: 'https://api.example.com/v1?key=hunter2' }],
    ['modelId', { ...good, modelId: '' }],
    ['name', { ...good, name: 'a.b' }],
    ['apiKey', { ...good, apiKey: '' }],
    ['apiKey', { ...good, apiKey: 'hunter2\n' }],
    ['apiKey', { ...good, apiKey: 'hunter2…' }],
    ['headers', { ...good, headers: { 'a b': 'hunter2' } }],
    ['headers.x-key', { ...good, headers: { 'x-key': 'hunter2\r\nx: y' } }],
  ])('that are wrong are refused by the name %s, and not quoted', (field, options) => {
    let error: unknown;
    try {
      openAiCompatibleModel(options);
    } catch (caught) {
      error = caught;
    }
    expect(isPerdureError(error, 'PERDURE_CONFIGURATION')).toBe(true);
    expect(error).toMatchObject({ data: { field } });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2');
  });

  test('that are secret do not show in what the model looks like', () => {
    const secret = 'sk-do-not-show';
    const model = openAiCompatibleModel({ ...good, apiKey: secret, headers: { 'x-api-key': secret } });
    expect(JSON.stringify(model)).not.toContain(secret);
    expect(inspect(model, { depth: 20, showHidden: true })).not.toContain(secret);
  });
});
