import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { PayloadOf } from '@perdure/events';
import type { BudgetGuard, LlmBudgetContext, LlmUsageContext, ToolBudgetContext } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const call = (key: string) => ({ name: 'lookup', input: { key } });
const oneCall: Script = {
  rules: [{ when: { toolResults: 0 }, answer: { calls: [call('a')] } }, { answer: { text: 'done' } }],
};

async function sessionWith(script: Script, budgetGuard?: BudgetGuard) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const runs: string[] = [];
  const model = new ScriptedModel(script);
  const guarded = budgetGuard === undefined ? {} : { budgetGuard };
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool(runs) }, ...guarded });
  const session = await agent.sessions.create({ sessionId: 's', tenantId: 't1' });
  const facts = async <Type extends 'BudgetThresholdHit' | 'ModelCallDenied' | 'ToolCallDecided'>(type: Type) =>
    (await store.read('session-_.s')).facts
      .filter((fact) => fact.type === type)
      .map((fact) => JSON.parse(fact.payload) as PayloadOf<Type>);
  return { runtime, agent, session, model, runs, facts };
}

const soft = { decision: 'soft', resource: 'llm_tokens', consumed: 80, limit: 100, message: 'near' } as const;
const deny = { decision: 'deny', resource: 'llm_tokens', reason: 'monthly cap reached' } as const;

describe('a budget guard', () => {
  test('is asked before each model call and each tool call, and told what answers cost [A2] [A16]', async () => {
    const asked: LlmBudgetContext[] = [];
    const told: LlmUsageContext[] = [];
    const tools: ToolBudgetContext[] = [];
    const { runtime, session, model } = await sessionWith(oneCall, {
      checkBeforeLlm: (context) => void asked.push(context),
      recordAfterLlm: (context) => void told.push(context),
      checkBeforeTool: (context) => void tools.push(context),
    });
    expect((await session.send('x'.repeat(4_000))).success).toBe(true);
    expect(asked).toHaveLength(model.calls.length);
    expect(asked[0]).toMatchObject({ sessionId: 's', tenantId: 't1', model: 'default', maxOutputTokens: null });
    expect(asked[0]?.estimatedTokens).toBeGreaterThan(1_000);
    expect(asked[1]?.estimatedTokens).toBeGreaterThan(asked[0]?.estimatedTokens ?? 0);
    expect(told.map(({ callId }) => callId)).toEqual(asked.map(({ callId }) => callId));
    expect(told[0]?.usage).toMatchObject({ promptTokens: 10, completionTokens: 5, totalTokens: 15 });
    expect(tools).toMatchObject([{ toolName: 'lookup', args: { key: 'a' }, runId: asked[0]?.runId }]);
    await runtime.dispose();
  });

  test('that answers soft lets calls pass and leaves a fact before each of them [A4]', async () => {
    const { runtime, session, runs, facts } = await sessionWith(oneCall, {
      checkBeforeLlm: () => soft,
      checkBeforeTool: () => ({ ...soft, resource: 'tool_calls' }),
    });
    expect((await session.send('go')).success).toBe(true);
    expect(runs).toEqual(['a']);
    const hits = await facts('BudgetThresholdHit');
    expect(hits.map(({ resource, kind }) => `${resource} ${kind}`)).toEqual([
      'llm_tokens soft',
      'tool_calls soft',
      'llm_tokens soft',
    ]);
    expect(hits[0]).toEqual({ resource: 'llm_tokens', kind: 'soft', consumed: 80, limit: 100, message: 'near' });
    await runtime.dispose();
  });

  const hanging = (): Promise<never> => new Promise(() => undefined);
  const refusals: [string, () => unknown, string][] = [
    ['denies', () => deny, 'llm_tokens'],
    ['denies later', () => Promise.resolve(deny), 'llm_tokens'],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'budget_guard',
    ],
    ['rejects', () => Promise.reject(new Error('broken')), 'budget_guard'],
    ['hangs', hanging, 'budget_guard'],
    ['answers a text', () => 'allow', 'budget_guard'],
    ['answers a number', () => 5, 'budget_guard'],
    ['answers true', () => true, 'budget_guard'],
    ['answers another decision', () => ({ decision: 'maybe' }), 'budget_guard'],
    ['answers false', () => false, 'budget_guard'],
    ['answers a list', () => ['allow'], 'budget_guard'],
    ['answers a function', () => () => 'allow', 'budget_guard'],
    ['answers an object without a decision', () => ({ resource: 'x', reason: 'y' }), 'budget_guard'],
    ['answers nonsense later', () => Promise.resolve('allow'), 'budget_guard'],
    ['answers soft without numbers', () => ({ decision: 'soft', resource: 'x' }), 'budget_guard'],
    ['answers soft with texts for numbers', () => ({ ...soft, consumed: '80' }), 'budget_guard'],
    ['answers soft with a number that is none', () => ({ ...soft, consumed: Number.NaN }), 'budget_guard'],
    ['denies without a reason', () => ({ decision: 'deny', resource: 'x' }), 'budget_guard'],
  ];

  test.each(refusals)(
    'that %s before a model call ends the turn; the session stays usable [A2]',
    async (_, check, resource) => {
      const { runtime, agent, session, model, facts } = await sessionWith([{ text: 'hello' }]);
      const told: unknown[] = [];
      session.setBudgetGuard({
        timeoutMs: 30,
        checkBeforeLlm: check as () => null,
        recordAfterLlm: (context) => void told.push(context),
      });
      const result = await session.send('go');
      expect(result).toMatchObject({ success: false, status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
      expect(model.calls).toHaveLength(0);
      expect(told).toEqual([]);
      expect(await facts('ModelCallDenied')).toMatchObject([{ resource, purpose: 'step', attempt: 1 }]);
      expect(await facts('BudgetThresholdHit')).toMatchObject([{ resource, kind: 'hard', consumed: 0, limit: 0 }]);
      expect((await session.messages()).items.map(({ role }) => role)).toEqual(['user']);
      session.setBudgetGuard(null);
      expect(await session.send('again')).toMatchObject({ success: true, text: 'hello' });
      expect((await agent.replay('s')).difference).toBeUndefined();
      await runtime.dispose();
    },
  );

  test.each(refusals)(
    'that %s before a tool call keeps it from running, and tells the model [P8]',
    async (_, check) => {
      const { runtime, session, runs, facts } = await sessionWith(oneCall, {
        timeoutMs: 30,
        checkBeforeTool: check as () => null,
      });
      expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
      expect(await session.tool('lookup', { key: 'b' })).toMatchObject({ status: 'denied' });
      expect(runs).toEqual([]);
      const decided = await facts('ToolCallDecided');
      expect(decided.map(({ gates }) => gates.at(-1))).toMatchObject([
        { gate: 'budget', decision: 'deny', code: 'PERDURE_BUDGET_EXHAUSTED' },
        { gate: 'budget', decision: 'deny', code: 'PERDURE_BUDGET_EXHAUSTED' },
      ]);
      expect(await facts('BudgetThresholdHit')).toHaveLength(2);
      session.setBudgetGuard(null);
      expect(await session.tool('lookup', { key: 'c' })).toMatchObject({ status: 'completed' });
      expect(runs).toEqual(['c']);
      await runtime.dispose();
    },
  );

  test.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['nothing, later', () => Promise.resolve()],
    ['allow', () => ({ decision: 'allow' })],
  ])('that answers %s lets calls pass', async (_, answer) => {
    const guard: BudgetGuard = { checkBeforeLlm: answer as () => null, checkBeforeTool: answer as () => null };
    const { runtime, session, runs, facts } = await sessionWith(oneCall, guard);
    expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
    expect(runs).toEqual(['a']);
    expect(await facts('BudgetThresholdHit')).toEqual([]);
    await runtime.dispose();
  });

  test('without methods allows model calls and tool calls', async () => {
    const { runtime, session, runs } = await sessionWith(oneCall, {});
    expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
    expect(runs).toEqual(['a']);
    await runtime.dispose();
  });

  test('without methods allows, and one whose record fails changes nothing [A2]', async () => {
    const { runtime, session } = await sessionWith([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    session.setBudgetGuard({});
    expect((await session.send('go')).text).toBe('one');
    session.setBudgetGuard({ recordAfterLlm: () => Promise.reject(new Error('broken')) });
    expect((await session.send('go')).text).toBe('two');
    session.setBudgetGuard({ timeoutMs: 20, recordAfterLlm: hanging });
    expect((await session.send('go')).text).toBe('three');
    expect(() => session.setBudgetGuard('none' as never)).toThrow(/guard/);
    await runtime.dispose();
  });

  test('of a session replaces the one of its agent, and null is none', async () => {
    const { runtime, session } = await sessionWith([{ text: 'one' }, { text: 'two' }], { checkBeforeLlm: () => deny });
    expect((await session.send('go')).success).toBe(false);
    session.setBudgetGuard({ checkBeforeLlm: () => null });
    expect((await session.send('go')).text).toBe('one');
    session.setBudgetGuard(null);
    expect((await session.send('go')).text).toBe('two');
    await runtime.dispose();
  });

  test('is asked for the summary of a compaction too [A15]', async () => {
    const { runtime, session } = await sessionWith([{ text: 'one' }, { text: 'two' }]);
    await session.send('first');
    await session.send('second');
    session.setBudgetGuard({ checkBeforeLlm: () => deny });
    expect(await (await session.compact()).finished).toMatchObject({ error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    await runtime.dispose();
  });
});
