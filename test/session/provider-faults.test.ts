import { afterEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { PayloadOf, RecordedFact } from '@perdure/events';
import { openAiCompatibleModel } from '@perdure/model-openai-compatible';
import { MemoryEventStore } from '@perdure/store-memory';
import type { EventStore } from '@perdure/plugin-api';
import {
  contextTooLong,
  ScriptedModel,
  startModelServer,
  type ModelServer,
  type ScriptedAnswer,
} from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** One turn against a real provider over HTTP, whose first answers are these. */
async function turnWith(answers: readonly ScriptedAnswer[], streaming = true) {
  server = await startModelServer({ script: [...answers, { text: 'at last', deltas: 3 }] });
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { random: () => 0 } });
  const model = openAiCompatibleModel({ baseUrl: server.url, modelId: 'm', apiKey: 'key-not-to-be-seen' });
  const agent = runtime.agent({ id: 'clerk', model, streaming, limits: { modelSilenceMs: 400, maxModelAttempts: 3 } });
  const session = await agent.sessions.create({ sessionId: 's' });
  const result = await session.send('hello');
  await runtime.dispose();
  const facts = (await store.read('session-_.s')).facts;
  return { result, facts, failures: failuresOf(facts), requests: server.requests.length };
}

function failuresOf(facts: readonly RecordedFact[]): PayloadOf<'ModelCallFailed'>[] {
  return facts.filter(({ type }) => type === 'ModelCallFailed').map(({ payload }) => JSON.parse(payload));
}

describe.each([true, false])('a provider that fails, asked as a stream: %s', (streaming) => {
  test.each<[string, ScriptedAnswer, string, number | undefined]>([
    [
      'refuses for a while',
      { error: { status: 429, message: 'slow down', retryAfter: { seconds: 0 } } },
      'PERDURE_MODEL_RATE_LIMITED',
      429,
    ],
    ['is out of order', { error: { status: 500, message: 'oh no' } }, 'PERDURE_MODEL_UNAVAILABLE', 500],
    ['cuts the answer off', { text: 'half of it', deltas: 4, cutAfter: 2 }, 'PERDURE_MODEL_PROTOCOL', undefined],
    ['sends what cannot be read', { text: 'some', deltas: 3, malformedAfter: 1 }, 'PERDURE_MODEL_PROTOCOL', undefined],
    ['falls silent', { text: 'some', deltas: 3, stallAfter: 1 }, 'PERDURE_MODEL_TIMEOUT', undefined],
  ])('when it %s is asked again, and every try is a fact', async (_, answer, code, status) => {
    const { result, failures, facts, requests } = await turnWith([answer], streaming);
    expect(result).toMatchObject({ status: 'completed', text: 'at last' });
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ attempt: 1, retryable: true, failure: { code } });
    if (status !== undefined) expect(failures[0]?.status).toBe(status);
    expect(requests).toBe(2);
    expect(JSON.stringify(facts)).not.toContain('key-not-to-be-seen');
  });

  test.each<[string, ScriptedAnswer, string]>([
    ['the credentials', { error: { status: 401, message: 'who are you' } }, 'PERDURE_MODEL_AUTHENTICATION'],
    ['the request', { error: { status: 400, message: 'what is that' } }, 'PERDURE_MODEL_REQUEST'],
    ['a request that is too long', { error: contextTooLong }, 'PERDURE_MODEL_CONTEXT_OVERFLOW'],
  ])('when it refuses %s is not asked again', async (_, answer, code) => {
    const { result, failures, requests } = await turnWith([answer], streaming);
    expect(result).toMatchObject({ status: 'failed', error: { code } });
    expect(failures[0]).toMatchObject({ retryable: false });
    expect(requests).toBe(1);
  });
});

describe('the tries of a model call', () => {
  test('end at the limit, and the turn fails with the last reason [R14]', async () => {
    const broken = { error: { status: 503, message: 'closed' } };
    const { result, failures, requests } = await turnWith([broken, broken, broken, broken]);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PERDURE_MODEL_UNAVAILABLE' } });
    expect(failures.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(requests).toBe(3);
  });

  test('keep what was seen of an answer that broke off, and do not show it to the model', async () => {
    const { facts } = await turnWith([{ text: 'half of it', deltas: ['half ', 'of ', 'it'], cutAfter: 2 }]);
    const interrupted = facts.find(({ type }) => type === 'AnswerInterrupted');
    expect(JSON.parse(interrupted?.payload ?? '{}')).toMatchObject({ reason: 'failed', attempt: 1 });
    expect(JSON.stringify(server?.requests.at(-1)?.messages)).not.toContain('half');
  });

  test('an answer that was cut at the limit of tokens is kept and no success', async () => {
    const { result } = await turnWith([{ text: 'as far as', finish: 'length' }]);
    expect(result).toMatchObject({ status: 'failed', text: 'as far as', error: { code: 'PERDURE_ANSWER_TRUNCATED' } });
  });
});

test('an answer that is larger than the store can keep fails its turn, and the session goes on', async () => {
  const inner = new MemoryEventStore();
  const small: EventStore = {
    name: 'small',
    capabilities: inner.capabilities,
    limits: { maxEventBytes: 256 * 1024, maxBatch: inner.limits.maxBatch },
    append: (stream, facts, options) => {
      const bytes = Math.max(...facts.map(({ payload, metadata }) => Buffer.byteLength(payload + metadata)));
      const limit = 256 * 1024;
      return bytes > limit
        ? Promise.resolve({ status: 'too-large', bytes, limit })
        : inner.append(stream, facts, options);
    },
    read: (stream, options) => inner.read(stream, options),
    subscribe: (source, options) => inner.subscribe(source, options),
    truncate: (stream, before) => inner.truncate(stream, before),
    close: () => inner.close(),
  };
  const runtime = await createTestRuntime({ plugins: [storesWith(small), allowing] });
  const large = { inputSchema: { type: 'object' }, effect: 'read' as const, execute: () => 'ß'.repeat(300_000) };
  const model = new ScriptedModel([
    { text: 'x'.repeat(300_000), deltas: 2 },
    { calls: [{ name: 'large', input: {} }] },
    { text: 'went on' },
  ]);
  const agent = runtime.agent({ id: 'clerk', model, tools: { large } });
  const session = await agent.sessions.create({ sessionId: 's' });
  expect(await session.send('much')).toMatchObject({ status: 'failed', error: { code: 'PERDURE_ANSWER_TOO_LARGE' } });
  expect((await session.send('less')).text).toBe('went on');
  const [part] = (await session.messages()).items.flatMap((message) => (message.role === 'tool' ? message.parts : []));
  expect(part?.artifact).toMatchObject({ bytes: 600_000, mediaType: 'text/plain' });
  expect(String(part?.output).length).toBeLessThan(40_000);
  await expect(session.prompt('y'.repeat(300_000))).rejects.toThrow(
    expect.objectContaining({ code: 'PERDURE_STORE_TOO_LARGE' }),
  );
  await runtime.dispose();
});
