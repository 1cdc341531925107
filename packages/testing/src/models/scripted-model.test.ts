import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider';
import type { LanguageModel } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import type { ScriptedAnswer } from './script.js';
import { scriptByRound } from './script.js';
import { ScriptedModel } from './scripted-model.js';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const toolResult = { type: 'tool-result', toolCallId: 'call_0', toolName: 'add', output: { type: 'json', value: 3 } };
const prompt = [user('go')];
const afterOneCall = [...prompt, { role: 'assistant', content: [] }, { role: 'tool', content: [toolResult] }];

const answer: ScriptedAnswer = {
  reasoning: 'hm',
  text: 'Hello',
  calls: [{ name: 'add', input: { a: 1 } }],
  usage: { inputTokens: 100, outputTokens: 20, reasoningTokens: 4, cacheReadTokens: 30, cacheWriteTokens: 10 },
};

async function streamed(model: ScriptedModel<'v2' | 'v3' | 'v4'>): Promise<readonly Record<string, unknown>[]> {
  const { stream } = await model.doStream({ prompt });
  const parts: Record<string, unknown>[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe('a scripted model', () => {
  test('is a model of the specification that it is made for', () => {
    const v3: LanguageModelV3 = new ScriptedModel([]);
    const v2: LanguageModelV2 = new ScriptedModel([], { specification: 'v2' });
    const any: LanguageModel = new ScriptedModel([], { specification: 'v4', provider: 'p', modelId: 'm' });
    expect([v3.specificationVersion, v2.specificationVersion, any.specificationVersion]).toEqual(['v3', 'v2', 'v4']);
    expect([v3.provider, v3.modelId, any.provider, any.modelId]).toEqual(['scripted', 'scripted', 'p', 'm']);
  });

  test('answers whole', async () => {
    const model = new ScriptedModel(() => answer);
    expect(await model.doGenerate({ prompt })).toEqual({
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Hello' },
        { type: 'tool-call', toolCallId: 'call_0', toolName: 'add', input: '{"a":1}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage: {
        inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
        outputTokens: { total: 20, text: 16, reasoning: 4 },
      },
      warnings: [],
      response: { modelId: 'scripted' },
    });
  });

  test('streams each part from its start to its end', async () => {
    const parts = await streamed(new ScriptedModel(() => answer));
    expect(parts.slice(0, -1)).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', modelId: 'scripted' },
      { type: 'reasoning-start', id: 'reasoning-0' },
      { type: 'reasoning-delta', id: 'reasoning-0', delta: 'h' },
      { type: 'reasoning-delta', id: 'reasoning-0', delta: 'm' },
      { type: 'reasoning-end', id: 'reasoning-0' },
      { type: 'text-start', id: 'text-0' },
      { type: 'text-delta', id: 'text-0', delta: 'He' },
      { type: 'text-delta', id: 'text-0', delta: 'llo' },
      { type: 'text-end', id: 'text-0' },
      { type: 'tool-input-start', id: 'call_0', toolName: 'add' },
      { type: 'tool-input-delta', id: 'call_0', delta: '{"a' },
      { type: 'tool-input-delta', id: 'call_0', delta: '":1}' },
      { type: 'tool-input-end', id: 'call_0' },
      { type: 'tool-call', toolCallId: 'call_0', toolName: 'add', input: '{"a":1}' },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } });
  });

  test('of v2 tells usage flat and the reason as a word', async () => {
    const model = new ScriptedModel(() => answer, { specification: 'v2' });
    const whole = await model.doGenerate({ prompt });
    expect(whole.finishReason).toBe('tool-calls');
    expect(whole.usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      totalTokens: 120,
      reasoningTokens: 4,
      cachedInputTokens: 30,
    });
    const finish = (await streamed(model)).at(-1);
    expect(finish).toEqual({ type: 'finish', finishReason: whole.finishReason, usage: whole.usage });
  });

  test('of v4 keeps its streams alive, and has a word for an answer that was cut short', async () => {
    const parts = await streamed(new ScriptedModel(() => answer, { specification: 'v4' }));
    expect(parts[1]).toEqual({ type: 'ping' });
    const short = await streamed(new ScriptedModel(() => ({ text: 'abcd', endAfter: 1 }), { specification: 'v4' }));
    expect(short.at(-1)).toMatchObject({ finishReason: { unified: 'interrupted' } });
    expect(short.some((part) => part['type'] === 'error')).toBe(false);
  });

  test('of a provider that reports no usage says so', async () => {
    const v2 = await new ScriptedModel([{ text: 'x', usage: null }], { specification: 'v2' }).doGenerate({ prompt });
    expect(v2.usage).toEqual({ inputTokens: undefined, outputTokens: undefined, totalTokens: undefined });
    const v3 = await new ScriptedModel([{ text: 'x', usage: null }]).doGenerate({ prompt });
    expect([v3.usage.inputTokens.total, v3.usage.outputTokens.total]).toEqual([undefined, undefined]);
  });

  test('needs no memory: a fresh one goes on where the prompt stands', async () => {
    const script = scriptByRound([{ calls: [{ name: 'add', input: {} }] }, { text: 'done' }]);
    const first = await new ScriptedModel(script).doGenerate({ prompt });
    const second = await new ScriptedModel(script).doGenerate({ prompt: afterOneCall });
    expect(first.content).toMatchObject([{ type: 'tool-call', toolCallId: 'call_0' }]);
    expect(second.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  test('gives calls of different answers the same id unless the script says other', async () => {
    const call = { name: 'add', input: {} };
    const model = new ScriptedModel([{ calls: [call] }, { calls: [call, { ...call, providerCallId: 'mine' }] }]);
    await model.doGenerate({ prompt });
    const { content } = await model.doGenerate({ prompt });
    expect(content).toMatchObject([{ toolCallId: 'call_0' }, { toolCallId: 'mine' }]);
  });

  test('keeps the options of its calls, unless it is told not to', async () => {
    const model = new ScriptedModel(() => ({}));
    const options = { prompt, maxOutputTokens: 7 };
    await model.doGenerate(options);
    await model.doStream({ prompt: afterOneCall });
    expect(model.calls[0]).toBe(options);
    expect(model.calls[1]?.prompt).toBe(afterOneCall);
    const forgetful = new ScriptedModel(() => ({}), { record: false });
    await forgetful.doGenerate(options);
    expect(forgetful.calls).toEqual([]);
  });
});
