import { afterEach, describe, expect, test } from 'vitest';
import type { PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue, PayloadOf } from '@perdure/events';
import { isPerdureError, type BudgetGuard, type EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { allowing, storesWith } from '../fixtures/agents.js';

const runtimes: PerdureRuntime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.dispose();
});

const schema = z.object({ name: z.string(), age: z.number().int() });
const right = '{"name":"Ann","age":7}';

async function start(script: Script, options: { store?: EventStore; budgetGuard?: BudgetGuard } = {}) {
  const { store = new MemoryEventStore(), budgetGuard } = options;
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    secrets: { password: 'hunter2-hunter2' },
  });
  runtimes.push(runtime);
  const model = new ScriptedModel(script);
  const guard = budgetGuard === undefined ? {} : { budgetGuard };
  const agent = runtime.agent({ id: 'a', model, limits: { maxModelAttempts: 2 }, ...guard });
  await agent.ready();
  return { agent, model, store, session: agent.session('', { sessionId: 's' }) };
}

async function factsOf(store: EventStore, type: string): Promise<readonly PayloadOf<'ModelAnswered'>[]> {
  const { facts } = await store.read('session-_.s');
  return facts
    .filter((fact) => fact.type === type)
    .map(({ payload }) => JSON.parse(payload) as PayloadOf<'ModelAnswered'>);
}

const errorOf = async (work: () => Promise<unknown>): Promise<{ readonly code: string; readonly data: object }> => {
  try {
    await work();
  } catch (error) {
    if (isPerdureError(error)) return error;
    throw error;
  }
  throw new Error('it was not refused');
};
const answers = (...texts: readonly string[]): Script => ({
  rules: texts.map((text, index) => ({ times: index === texts.length - 1 ? 99 : 1, answer: { text } })),
});

describe('an object', () => {
  test('is made by the model invoker, beside the conversation [P8]', async () => {
    const { agent, session, model, store } = await start(answers(right));
    const made = await session.generateObject<z.output<typeof schema>>({ schema, prompt: 'Who?', name: 'person' });
    expect(made).toMatchObject({ object: { name: 'Ann', age: 7 }, attempts: 1 });
    expect((await session.messages()).total).toBe(0);
    expect(await factsOf(store, 'ModelAnswered')).toMatchObject([{ purpose: 'object', attempt: 1 }]);
    expect((await session.info()).usage).toEqual(made.usage);
    expect(model.calls[0]).toMatchObject({
      responseFormat: { type: 'json', name: 'person', schema: { type: 'object' } },
    });
    expect((await agent.replay('s')).difference).toBeUndefined();
    expect(await session.send('Hello.')).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(model.calls.at(-1))).not.toContain('Who?');
  });

  test('is repaired: the model is told what is wrong and where', async () => {
    const { session, model, store } = await start(
      answers('no JSON', '{"name":"Ann","age":"x"}', `\`\`\`json\n${right}\n\`\`\``),
    );
    expect(await session.generateObject({ schema, prompt: 'Who?' })).toMatchObject({ attempts: 3, object: { age: 7 } });
    expect(JSON.stringify(model.calls[1])).toContain('it is no JSON');
    expect(JSON.stringify(model.calls[2])).toContain('\\"age\\"');
    expect(await factsOf(store, 'ModelAnswered')).toHaveLength(3);
  });

  test('that stays wrong is a typed error that names the path, after the tries that were given', async () => {
    const { session, model } = await start(answers('{"name":"Ann","age":7.5}'));
    const error = await errorOf(() => session.generateObject({ schema, prompt: 'Who?', maxRepairs: 1 }));
    expect(error).toMatchObject({ code: 'PERDURE_OBJECT_INVALID', data: { path: 'age', attempts: 2 } });
    expect(model.calls).toHaveLength(2);
  });

  test('needs a right request: the field is named, and no model is asked', async () => {
    const { session, model } = await start(answers(right));
    const fields = async (request: object) => (await errorOf(() => session.generateObject(request as never))).data;
    expect(await fields({ schema })).toMatchObject({ field: 'prompt' });
    expect(await fields({ schema, prompt: 'x', messages: [{ role: 'user', content: 'x' }] })).toMatchObject({
      field: 'prompt',
    });
    expect(await fields({ schema: 7, prompt: 'x' })).toMatchObject({ field: 'schema' });
    expect(await fields({ schema, prompt: 'x', maxRepairs: 99 })).toMatchObject({ field: 'maxRepairs' });
    expect(await fields({ schema, prompt: 'x', more: 1 })).toMatchObject({ field: 'more' });
    expect(model.calls).toHaveLength(0);
  });

  test('takes a JSON Schema and messages, and holds no registered secret', async () => {
    const { session, store } = await start(answers('{"word":"hunter2-hunter2"}'));
    const json = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
    const messages = [{ role: 'user' as const, content: 'Say it.' }];
    const { object } = await session.generateObject({ schema: json, messages });
    expect(object).toEqual({ word: 'secret://password' });
    expect(JSON.stringify(await store.read('session-_.s'))).not.toContain('hunter2-hunter2');
  });
});

test('partial objects are told while the answer grows, bounded', async () => {
  // A word is told when it has ended: until then it could be the beginning of a secret.
  const name = 'Ann '.repeat(100);
  const text = JSON.stringify({ name, age: 7 });
  const { session } = await start({ rules: [{ answer: { text, deltas: 40, deltaDelayMs: 10 } }] });
  const partials: { readonly name?: string }[] = [];
  const onPartial = (partial: JsonValue) => partials.push(partial as { name?: string });
  const { object } = await session.generateObject({ schema, prompt: 'Who?', onPartial });
  expect(object).toEqual(JSON.parse(text));
  expect(partials.length).toBeGreaterThan(1);
  expect(partials.length).toBeLessThan(40);
  for (const partial of partials) expect(name.startsWith(partial.name ?? '')).toBe(true);
});

describe('a model call for an object', () => {
  test('that fails is tried as often as any other, each try a fact', async () => {
    const { session, store } = await start({
      rules: [{ answer: { error: { status: 500, message: 'out of order' } } }],
    });
    expect(await errorOf(() => session.generateObject({ schema, prompt: 'Who?' }))).toMatchObject({
      code: 'PERDURE_MODEL_UNAVAILABLE',
    });
    expect(await factsOf(store, 'ModelCallFailed')).toMatchObject([{ attempt: 1 }, { attempt: 2, purpose: 'object' }]);
  });

  test('that the budget denies is not made, and leaves a fact [P8]', async () => {
    const budgetGuard: BudgetGuard = {
      checkBeforeLlm: () => ({ decision: 'deny', resource: 'tokens', reason: 'used up' }),
    };
    const { session, model, store } = await start(answers(right), { budgetGuard });
    expect(await errorOf(() => session.generateObject({ schema, prompt: 'Who?' }))).toMatchObject({
      code: 'PERDURE_BUDGET_EXHAUSTED',
    });
    expect(model.calls).toHaveLength(0);
    expect(await factsOf(store, 'ModelCallDenied')).toMatchObject([{ purpose: 'object' }]);
  });

  test('ends with its signal, and with the session', async () => {
    const { session } = await start({ rules: [{ answer: { text: right, deltas: 5, delayMs: 5_000 } }] });
    const controller = new AbortController();
    const aborted = session.generateObject({ schema, prompt: 'Who?', signal: controller.signal });
    setTimeout(() => controller.abort(new Error('no longer')), 50);
    await expect(aborted).rejects.toThrow('no longer');
    const closed = errorOf(() => session.generateObject({ schema, prompt: 'Who?' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await session.close();
    expect(await closed).toMatchObject({ code: 'PERDURE_SESSION_CLOSED' });
  });

  test('belongs on the node that owns the session', async () => {
    const store = new MemoryEventStore();
    const first = await start(answers(right), { store });
    await first.session.generateObject({ schema, prompt: 'Who?' });
    const second = await start(answers(right), { store });
    expect(await errorOf(() => second.session.generateObject({ schema, prompt: 'Who?' }))).toMatchObject({
      code: 'PERDURE_SESSION_OWNED',
    });
  });
});
