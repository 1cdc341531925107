import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, PERMISSION } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { call, node, payloads, results, calling, types, waiting } from './questions.fixture.js';

const steps = {
  rules: [
    { when: { toolResults: 0 }, answer: { calls: [call('asked', 'a')] } },
    { when: { toolResults: 1 }, answer: { calls: [call('asked', 'b')] } },
    { answer: { text: 'done' } },
  ],
};
const gatesOf = async (store: MemoryEventStore) =>
  (await payloads(store, 'ToolCallDecided')).map(({ decision, gates }: { decision: string; gates: object[] }) => [
    decision,
    gates.at(-1),
  ]);

describe('the approval mode of a session', () => {
  test('wins over that of the policy, is shown, stays with the session, and is named in decisions', async () => {
    const store = new MemoryEventStore();
    const first = await node(store, { script: calling(call('asked', 'a')) });
    const session = await first.agent.sessions.create({ sessionId: 's' });
    expect((await session.info()).approvals).toBeNull();
    expect(await (await session.set({ approvals: 'always-allow' })).finished).toEqual({ success: true });
    expect((await session.info()).approvals).toBe('always-allow');
    expect((await session.send('go')).success).toBe(true);
    await first.runtime.dispose();
    const second = await node(store, { script: calling(call('asked', 'b')), mode: 'always-allow', nodeId: 'b' });
    const again = await second.agent.sessions.get('s');
    expect((await again.info()).approvals).toBe('always-allow');
    await (
      await again.set({ approvals: 'deny' })
    ).finished;
    expect((await again.send('go')).success).toBe(true);
    expect([...first.runs, ...second.runs]).toEqual(['a']);
    expect(await gatesOf(store)).toMatchObject([
      ['allow', { gate: 'approval', rule: 'always-allow of the session' }],
      ['deny', { gate: 'approval', rule: 'deny of the session', code: 'PERDURE_TOOL_DENIED' }],
    ]);
    await (
      await again.set({ approvals: 'ask' })
    ).finished;
    const turn = await again.prompt('go');
    const [approval] = await waiting(again, 1);
    await again.respond({ id: approval?.id ?? '', decision: 'allow', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect((await second.agent.replay('s')).difference).toBeUndefined();
    await second.runtime.dispose();
  });

  test('changes at the next step boundary: what was asked by then still waits, and replay verifies it', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent, runs } = await node(store, { script: steps });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const [approval] = await waiting(session, 1);
    const change = await session.set({ approvals: 'always-allow' });
    expect((await session.info()).approvals).toBeNull();
    expect(await session.interactions()).toHaveLength(1);
    expect(runs).toEqual([]);
    await session.respond({ id: approval?.id ?? '', decision: 'allow', by: 'ada' });
    expect(await change.finished).toEqual({ success: true });
    expect((await turn.finished).success).toBe(true);
    expect(runs).toEqual(['a', 'b']);
    expect(await gatesOf(store)).toMatchObject([
      ['allow', { rule: 'by ada' }],
      ['allow', { rule: 'always-allow of the session' }],
    ]);
    const order = (await types(store)).filter((type) => /^(Step|Change)/.test(type));
    expect(order.slice(0, 5)).toEqual([
      'StepStarted',
      'ChangeRequested',
      'StepCheckpointed',
      'ChangeApplied',
      'StepStarted',
    ]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('does not allow what rules deny', async () => {
    const store = new MemoryEventStore();
    const script = calling(call('asked', 'a'));
    const { runtime, agent } = await node(store, { script, decide: () => ({ decision: 'deny' }) });
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.set({ approvals: 'always-allow' });
    expect((await session.send('go')).success).toBe(true);
    expect(await results(session)).toMatchObject([{ status: 'denied' }]);
    await runtime.dispose();
  });

  test('has people asked also where the agent has no policy of its own', async () => {
    const rules = definePlugin({
      name: 'rules',
      api: 1,
      version: '1.0.0',
      config: z.object({}),
      provides: [PERMISSION],
      setup: ({ provide }) => {
        provide(PERMISSION, { id: 'ask', digest: 'ask', decide: () => ({ decision: 'ask' }) });
        return {};
      },
    });
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), rules] });
    const model = new ScriptedModel(calling(call('asked', 'a')));
    const agent = runtime.agent({ id: 'clerk', model, tools: { asked: lookupTool() } });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).success).toBe(true);
    await session.set({ approvals: 'ask' });
    const turn = await session.prompt('go');
    const [approval] = await waiting(session, 1);
    await session.respond({ id: approval?.id ?? '', decision: 'allow', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect((await results(session)).map(({ status }) => status)).toEqual(['denied', 'completed']);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('is set with the model or without it; each is applied by itself, and a refusal is told', async () => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store)] });
    const models = { first: new ScriptedModel([]), second: new ScriptedModel([]) };
    const agent = runtime.agent({ id: 'clerk', model: 'first', models });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect(await (await session.set({ model: 'second', approvals: 'deny' })).finished).toEqual({ success: true });
    expect(await session.info()).toMatchObject({ model: 'second', approvals: 'deny' });
    const unknown = await (await session.set({ model: 'third', approvals: 'ask' })).finished;
    expect(unknown).toMatchObject({ success: false, error: { code: 'PERDURE_MODEL_UNKNOWN' } });
    expect(await session.info()).toMatchObject({ model: 'second', approvals: 'ask' });
    for (const [change, field] of [
      [{ approvals: 'never' }, 'approvals'],
      [{ approvals: null }, 'approvals'],
      [{ approvals: 'ask', model: '' }, 'model'],
      [{ approvals: 'ask', colour: 'red' }, 'colour'],
      [{}, 'model'],
    ] as const) {
      await expect(session.set(change as never)).rejects.toMatchObject({
        code: 'PERDURE_INPUT_INVALID',
        data: { field },
      });
    }
    await runtime.dispose();
  });
});
