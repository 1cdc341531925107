import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { defineHook, definePlugin, GATES, HOOKS, type Gate, type Hook } from '@perdure/plugin-api';
import { createPermissionPolicy } from '@perdure/policy-permission';
import { PERMISSION } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';
import { governedBy } from '../fixtures/governed-by.js';

const nobody = createPermissionPolicy({ allow: ['lookup'], deny: [], ask: [], default: 'ask' });

async function agentWith(
  governance: { gates?: readonly Gate[]; hooks?: readonly Hook[] },
  script: ConstructorParameters<typeof ScriptedModel>[0] = [],
) {
  const plugin = definePlugin({
    name: 'governance',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [GATES, HOOKS, PERMISSION],
    setup: ({ provide }) => {
      provide(PERMISSION, nobody);
      for (const gate of governance.gates ?? []) provide(GATES, gate);
      for (const hook of governance.hooks ?? []) provide(HOOKS, hook);
      return {};
    },
  });
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), plugin] });
  const runs: string[] = [];
  const tools = { lookup: lookupTool(runs), other: lookupTool(runs, 'once') };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools });
  const types = async () => (await store.read('session-_.s')).facts.map(({ type }) => type);
  return { runtime, agent, runs, types, session: await agent.sessions.create({ sessionId: 's' }) };
}

describe('a call of the host', () => {
  test('leaves the facts of any call, and passes by the permission only when it is trusted', async () => {
    const { runtime, session, runs, types } = await agentWith({});
    expect(await session.tool('other', { key: 'a' })).toMatchObject({ status: 'completed', output: 'value of a' });
    expect(await session.governedTool('other', { key: 'b' })).toMatchObject({
      status: 'denied',
      failure: { code: 'PERDURE_TOOL_NOBODY_TO_ASK' },
    });
    expect(await session.governedTool('lookup', { key: 'c' })).toMatchObject({ status: 'completed' });
    expect(await session.tool('nothing', {})).toMatchObject({
      status: 'denied',
      failure: { code: 'PERDURE_TOOL_UNKNOWN' },
    });
    expect(await session.tool('lookup', { key: 5 })).toMatchObject({
      status: 'denied',
      failure: { code: 'PERDURE_TOOL_INPUT' },
    });
    expect(runs).toEqual(['a', 'c']);
    expect((await types()).filter((type) => type === 'ToolCallSettled')).toHaveLength(5);
    expect((await session.messages()).total).toBe(0);
    await runtime.dispose();
  });

  test('needs no conversation: it is made while a turn runs and a send holds the session [A14]', async () => {
    const { model, release } = gatedModel([{ text: 'done' }]);
    const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
    const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() } });
    const session = await agent.sessions.create();
    const sent = session.send('go');
    while ((await session.currentRun()) === null) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const call of [session.tool('lookup', { key: 'a' }), session.governedTool('lookup', { key: 'b' })]) {
      expect(await call).toMatchObject({ status: 'completed' });
    }
    expect((await session.currentRun())?.status).toBe('executing');
    release();
    expect((await sent).text).toBe('done');
    await runtime.dispose();
  });

  test('may end within the grace when the session is let go, and is settled', async () => {
    const { runtime, agent, types } = await agentWith({});
    const slow = {
      inputSchema: z.object({}),
      execute: () => new Promise((resolve) => setTimeout(() => resolve('done'), 60)),
    };
    const other = runtime.agent({ id: 'clerk-2', model: new ScriptedModel([]), tools: { slow } });
    const session = await other.sessions.create({ sessionId: 'h' });
    const call = session.tool('slow', {});
    while ((await session.info()).revision < 3) await new Promise((resolve) => setTimeout(resolve, 2));
    await session.close();
    expect(await call).toMatchObject({ status: 'completed', output: 'done' });
    expect(await types()).toEqual(['SessionCreated']);
    await agent.dispose();
    await runtime.dispose();
  });
});

describe('gates [P8]', () => {
  const bad: [string, Gate][] = [
    ['denies', { id: 'g', kind: 'rule', digest: 'g', decide: () => ({ decision: 'deny', reason: 'no' }) }],
    [
      'throws',
      {
        id: 'g',
        kind: 'rule',
        digest: 'g',
        decide: () => {
          throw new Error('broken');
        },
      },
    ],
    ['answers nonsense', { id: 'g', kind: 'rule', digest: 'g', decide: () => ({ decision: 'maybe' }) as never }],
    ['denies later', { id: 'g', kind: 'waiting', decide: () => Promise.resolve({ decision: 'deny', reason: 'no' }) }],
    ['rejects', { id: 'g', kind: 'waiting', decide: () => Promise.reject(new Error('broken')) }],
    ['hangs', { id: 'g', kind: 'waiting', timeoutMs: 30, decide: () => new Promise(() => undefined) }],
    ['answers nothing', { id: 'g', kind: 'waiting', decide: () => Promise.resolve(undefined as never) }],
  ];
  test.each(bad)(
    'one that %s keeps the tool from running, for the model and for the host, and leaves a decision',
    async (_, gate) => {
      const script = {
        rules: [
          { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'a' } }] } },
          { answer: { text: 'ok' } },
        ],
      };
      const { runtime, session, runs, types } = await agentWith({ gates: [gate] }, script);
      expect((await session.send('go')).text).toBe('ok');
      expect((await session.tool('lookup', { key: 'b' })).status).toBe('denied');
      expect((await session.tool('lookup', { key: 'c' })).failure?.message).toMatch(/lookup|"g"/);
      expect(runs).toEqual([]);
      expect((await types()).filter((type) => type === 'ToolCallDecided')).toHaveLength(3);
      expect((await types()).filter((type) => type === 'ToolCallStarted')).toHaveLength(0);
      await runtime.dispose();
    },
  );

  test('a hook that blocks does, one that observes sees the outcome; the answer is stored first', async () => {
    const seen: string[] = [];
    const order: string[] = [];
    const hooks: Hook[] = [
      defineHook({
        id: 'guard',
        event: 'pre_tool_use',
        handler: async ({ payload }) => {
          order.push(...(await facts()));
          return JSON.stringify(payload.args).includes('bad') ? { action: 'block', reason: 'bad word' } : {};
        },
      }),
      defineHook({
        id: 'watch',
        event: 'post_tool_use',
        handler: ({ payload: { tool, result } }) => {
          seen.push(`${tool} ${result.status}`);
          return Promise.reject(new Error('observers may fail'));
        },
      }),
    ];
    const call = (key: string) => ({ name: 'lookup', input: { key } });
    const script = {
      rules: [{ when: { toolResults: 0 }, answer: { calls: [call('good'), call('bad')] } }, { answer: { text: 'ok' } }],
    };
    const started = await agentWith({ hooks }, script);
    const facts = started.types;
    expect((await started.session.send('go')).text).toBe('ok');
    expect(order).toContain('ModelAnswered');
    expect(started.runs).toEqual(['good']);
    expect(seen).toEqual(['lookup denied', 'lookup completed']);
    expect((await started.agent.replay('s')).difference).toBeUndefined();
    await started.runtime.dispose();
  });
});

test('a governed call of the host waits for a person, and the turn goes on beside it [P9]', async () => {
  const approval = governedBy(() => ({ decision: 'ask' }), {});
  const store = new MemoryEventStore();
  const runs: string[] = [];
  const runtime = await createTestRuntime({ plugins: [storesWith(store), approval] });
  const model = new ScriptedModel({ rules: [{ answer: { text: 'meanwhile' } }] });
  const agent = runtime.agent({ id: 'clerk', model, tools: { other: lookupTool(runs, 'once') } });
  const session = await agent.sessions.create({ sessionId: 's' });
  const call = session.governedTool('other', { key: 'a' });
  const refused = session.governedTool('other', { key: 'b' });
  while ((await session.interactions()).length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  expect((await session.send('go')).text).toBe('meanwhile');
  const pending = await session.interactions();
  expect(pending).toMatchObject([
    { tool: 'other', turnId: null },
    { tool: 'other', turnId: null },
  ]);
  for (const { id, input } of pending) {
    const decision = (input as { readonly key: string }).key === 'a' ? 'allow' : 'deny';
    await session.respond({ id, decision, by: 'ada' });
  }
  expect(await call).toMatchObject({ status: 'completed', output: 'value of a' });
  expect(await refused).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_DENIED' } });
  expect(runs).toEqual(['a']);
  // Whoever made a call that nobody answers is told when the session closes, and it is settled.
  const left = session.governedTool('other', { key: 'c' });
  while ((await session.interactions()).length < 1) await new Promise((resolve) => setTimeout(resolve, 2));
  await runtime.dispose();
  expect((await left).status).toBe('cancelled');
  const last = (await store.read('session-_.s')).facts.findLast(({ type }) => type === 'ToolCallSettled');
  expect(JSON.parse(last?.payload ?? '')).toMatchObject({ status: 'cancelled' });
});
