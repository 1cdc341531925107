import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } };
const circular: Record<string, unknown> = {};
circular['self'] = circular;
const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
const textual = {
  toString: () => {
    throw new Error('no text');
  },
};

/** A model that streams what it was given, and stays open for a moment before the end. */
function streaming(parts: readonly unknown[]): LanguageModel {
  return {
    specificationVersion: 'v3',
    provider: 'hostile',
    modelId: 'hostile-1',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('streams only')),
    doStream: () =>
      Promise.resolve({
        stream: new ReadableStream({
          async start(controller) {
            for (const part of parts) controller.enqueue(part);
            await new Promise((resolve) => setTimeout(resolve, 80));
            controller.close();
          },
        }),
      }),
  } as unknown as LanguageModel;
}

async function sessionWith(model: LanguageModel) {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  const agent = runtime.agent({
    id: 'a',
    model,
    tools: { lookup: lookupTool() },
    limits: { maxModelAttempts: 1, maxSteps: 3 },
  });
  return { runtime, agent, session: await agent.sessions.create({ sessionId: 's' }) };
}

describe('a model that answers nonsense [P20]', () => {
  const text = (members: object) => [{ type: 'text-delta', id: 't', delta: 'hello', ...members }, finish];
  const call = (members: object) => [
    { type: 'tool-call', toolCallId: 'c', toolName: 'lookup', input: '{"key":"a"}', ...members },
    finish,
  ];

  test.each<[string, readonly unknown[]]>([
    ['a delta that is a number', text({ delta: 5 })],
    ['a delta that is an object', text({ delta: {} })],
    ['no delta', text({ delta: undefined })],
    ['a tool name that is a number', call({ toolName: 5 })],
    ['no tool name', call({ toolName: undefined })],
    ['a call id that is a number', call({ toolCallId: 5 })],
    ['arguments that are no text', call({ input: { key: 'a' } })],
    ['a file without a type', [{ type: 'file', data: 'aGk=' }, finish]],
    ['a file that is a number', [{ type: 'file', mediaType: 'text/plain', data: 5 }, finish]],
    ['a part that is null', [null, finish]],
    ['a part that is a text', ['hello', finish]],
    ['no end', [{ type: 'text-delta', id: 't', delta: 'hello' }]],
    ['an error without a text', [{ type: 'error', error: { type: textual, message: textual } }]],
    ['an error that is nothing', [{ type: 'error', error: Object.create(null) }]],
  ])('with %s ends the turn as failed, with a code, and the session goes on', async (_, parts) => {
    const { runtime, session } = await sessionWith(streaming(parts));
    const result = await session.send('go');
    expect(result).toMatchObject({ success: false, status: 'failed' });
    expect(result.error?.code).toMatch(/^PERDURE_MODEL_/);
    expect(await session.send('again')).toMatchObject({ status: 'failed' });
    await runtime.dispose();
  });

  test.each<[string, readonly unknown[]]>([
    ['an id of the response that is a number', [{ type: 'response-metadata', id: 5 }, ...text({})]],
    ['metadata that is a text', text({ providerMetadata: 'x' })],
    ['metadata with a bigint', text({ providerMetadata: { p: { n: 5n } } })],
    ['metadata that holds itself', text({ providerMetadata: { p: circular } })],
    [
      'usage without end',
      [...text({}).slice(0, 1), { ...finish, usage: { inputTokens: { total: 1e300 }, outputTokens: Number.NaN } }],
    ],
    ['a reason to end that is a number', [...text({}).slice(0, 1), { ...finish, finishReason: 5 }]],
    ['parts that nobody knows', [{ type: 'news', data: 5 }, ...text({})]],
  ])('with %s is understood as far as it can be', async (_, parts) => {
    const { runtime, agent, session } = await sessionWith(streaming(parts));
    expect(await session.send('go')).toMatchObject({ success: true, text: 'hello' });
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test.each<[string, string]>([
    ['nested too deeply', deep],
    ['with a number that JSON cannot hold', '{"key":1e999}'],
    ['that are such a number', '1e999'],
    ['that are broken', '{"key":'],
  ])('arguments %s are refused, the turn goes on, and replay agrees', async (_, input) => {
    const { runtime, agent, session } = await sessionWith(
      streaming([{ type: 'tool-call', toolCallId: 'c', toolName: 'lookup', input }, finish]),
    );
    expect(await session.send('go')).toMatchObject({ status: 'failed', error: { code: 'PERDURE_TURN_STEP_LIMIT' } });
    const results = (await session.messages()).items.filter(({ role }) => role === 'tool');
    expect(results[0]?.parts).toMatchObject([{ status: 'denied', failure: { code: 'PERDURE_TOOL_INPUT' } }]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });
});
