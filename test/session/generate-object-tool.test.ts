import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue, PayloadOf } from '@perdure/events';
import type { BudgetGuard } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type ScriptedAnswer } from '@perdure/testing';
import { toolsObjects } from '@perdure/tools-objects';
import { allowing, storesWith } from '../fixtures/agents.js';

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
};
const right = '{"name":"Ann","age":7}';

async function start(input: JsonValue, answers: readonly ScriptedAnswer[], budgetGuard?: BudgetGuard) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing, toolsObjects] });
  const script = [{ calls: [{ name: 'generate_object', input }] }, ...answers];
  const model = new ScriptedModel(script);
  const guard = budgetGuard === undefined ? {} : { budgetGuard };
  const agent = runtime.agent({ id: 'a', model, limits: { maxModelAttempts: 1 }, ...guard });
  await agent.ready();
  const session = await agent.sessions.create({ sessionId: 's' });
  const turn = await session.send('go');
  const results = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
  const { facts } = await store.read('session-_.s');
  const answered = facts
    .filter(({ type }) => type === 'ModelAnswered')
    .map(({ payload }) => JSON.parse(payload) as PayloadOf<'ModelAnswered'>);
  return { agent, model, runtime, turn, result: results[0], purposes: answered.map(({ purpose }) => purpose) };
}

describe('generate_object', () => {
  test('makes an object after a schema, and sends a wrong answer back', async () => {
    const input = {
      ...{ schema, prompt: 'Who is Ann?', schema_name: 'person', schema_description: 'a person' },
      ...{ system: 'Be exact.', include_raw_text: true },
    };
    const answers = [{ text: '{"name":"Ann","age":"seven"}' }, { text: right }, { text: 'done' }];
    const { agent, model, runtime, turn, result, purposes } = await start(input, answers);
    expect(turn).toMatchObject({ success: true, text: 'done' });
    const output = { object: { name: 'Ann', age: 7 }, attempts: 2, raw_text: right };
    expect(result).toMatchObject({ status: 'completed', output });
    expect(purposes).toEqual(['step', 'object', 'object', 'step']);
    expect(JSON.stringify(model.calls[1]?.prompt)).toMatch(/Be exact\..*The object: a person.*Who is Ann\?/);
    // What the tool's model is asked is no part of the conversation, and the other way round.
    expect(JSON.stringify(model.calls[1]?.prompt)).not.toContain('"go"');
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain('age');
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('fails with a code when no answer is right, and when the budget does not allow it', async () => {
    const wrong = await start({ schema, prompt: 'x', max_repair_attempts: 1 }, [
      { text: '1' },
      { text: '2' },
      { text: 'done' },
    ]);
    expect(wrong.result).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_OBJECT_INVALID' } });
    expect(wrong.turn).toMatchObject({ success: true, text: 'done' });
    await wrong.runtime.dispose();
    let asked = 0;
    const guard: BudgetGuard = {
      checkBeforeLlm: () =>
        ++asked === 2 ? { decision: 'deny', resource: 'llm_tokens', reason: 'spent' } : { decision: 'allow' },
    };
    const poor = await start({ schema, prompt: 'x' }, [{ text: 'done' }], guard);
    expect(poor.result).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    await poor.runtime.dispose();
  });

  test.each<[string, JsonValue, string]>([
    ['no schema', { prompt: 'x' }, 'schema'],
    ['a schema with a pattern', { prompt: 'x', schema: { type: 'string', pattern: '^(a+)+$' } }, 'pattern'],
    ['a schema elsewhere', { prompt: 'x', schema: { $ref: 'http://127.0.0.1:9/s' } }, 'another document'],
    ['no prompt', { schema, prompt: ' ' }, 'prompt'],
    ['too many repairs', { schema, prompt: 'x', max_repair_attempts: 6 }, 'max_repair_attempts'],
    ['a long description', { schema, prompt: 'x', schema_description: 'ä'.repeat(2_049) }, 'schema_description'],
    ['too little time', { schema, prompt: 'x', timeout_ms: 10 }, 'timeout_ms'],
  ])('refuses %s and asks no model', async (_, input, field) => {
    const { runtime, result, purposes } = await start(input, [{ text: 'done' }]);
    expect(result).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_INPUT' } });
    expect(result?.failure?.message).toContain(field);
    expect(purposes).toEqual(['step', 'step']);
    await runtime.dispose();
  });
});
