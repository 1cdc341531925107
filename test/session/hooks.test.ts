import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { PayloadOf } from '@perdure/events';
import { definePlugin, PERMISSION } from '@perdure/plugin-api';
import { createPermissionPolicy } from '@perdure/policy-permission';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';

const policy = createPermissionPolicy({
  allow: ['lookup', 'broken'],
  deny: ['Lookup(forbidden)'],
  ask: [],
  default: 'ask',
});
const governance = definePlugin({
  name: 'governance',
  api: 1,
  version: '1.0.0',
  config: z.object({}),
  provides: [PERMISSION],
  setup: ({ provide }) => {
    provide(PERMISSION, policy);
    return {};
  },
});

async function sessionWith(script: Script) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), governance] });
  const runs: string[] = [];
  const keyed = { ...lookupTool(runs), permissionSubjects: ({ key }: { key: string }) => [key] };
  const tools = {
    lookup: keyed,
    other: lookupTool(runs, 'once'),
    broken: { ...lookupTool(runs), execute: () => Promise.reject(new Error('out of order')) },
  };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools });
  const labels = { tenantId: 't1', principal: 'p1', correlationId: 'c1' };
  const session = await agent.sessions.create({ sessionId: 's', ...labels });
  const facts = async <Type extends 'ToolCallDecided' | 'ToolCallStarted'>(type: Type) =>
    (await store.read('session-_.s')).facts
      .filter((fact) => fact.type === type)
      .map((fact) => JSON.parse(fact.payload) as PayloadOf<Type>);
  return { runtime, agent, session, runs, facts };
}

const call = (name: string, key: string) => ({ name, input: { key } });
const oneCall = (name: string, key: string): Script => ({
  rules: [{ when: { toolResults: 0 }, answer: { calls: [call(name, key)] } }, { answer: { text: 'done' } }],
});

describe('the registration of a hook', () => {
  test('an option that is not valid is refused by its field, and nothing is registered', async () => {
    const { runtime, session } = await sessionWith([]);
    const bad: [string, () => void][] = [
      ['id', () => session.registerHook('', 'pre_prompt')],
      ['event', () => session.registerHook('h', 'no_such' as never)],
      ['handler', () => session.registerHook('h', 'pre_prompt', null, null, 'code' as never)],
      ['config.timeoutMs', () => session.registerHook('h', 'pre_prompt', null, { timeoutMs: 0 })],
      ['matcher.commandPattern', () => session.registerHook('h', 'pre_tool_use', { commandPattern: '(' })],
    ];
    for (const [field, register] of bad) {
      expect(register).toThrow(
        expect.objectContaining({ code: 'PERDURE_INPUT_INVALID', data: expect.objectContaining({ field }) }),
      );
    }
    expect(session.hookCount()).toBe(0);
    expect(session.unregisterHook('h')).toBe(false);
    await runtime.dispose();
  });
});

describe('a hook before a call', () => {
  test('rewrites arguments; they are checked again, permission sees them, and the decision holds them', async () => {
    const { runtime, agent, session, runs, facts } = await sessionWith(oneCall('lookup', 'asked'));
    session.registerHook('rewrite', 'pre_tool_use', { tool: 'lookup' }, null, () => ({
      modified: { args: { key: 'new' } },
    }));
    await session.send('go');
    expect(runs).toEqual(['new']);
    const [decided] = await facts('ToolCallDecided');
    expect(decided).toMatchObject({ decision: 'allow', input: { key: 'new' } });
    expect((await facts('ToolCallStarted'))[0]?.argumentDigest).toBe(decided?.argumentDigest);
    session.registerHook('rewrite', 'pre_tool_use', null, null, () => ({ modified: { args: { key: 5 } } }));
    await session.send('again');
    session.registerHook('rewrite', 'pre_tool_use', null, null, () => ({ modified: { args: { key: 'forbidden' } } }));
    await session.send('again');
    session.registerHook('rewrite', 'pre_tool_use', null, null, () => ({ modified: { other: 1 } }));
    await session.send('again');
    expect(runs).toEqual(['new']);
    const denied = (await facts('ToolCallDecided')).slice(1).map(({ gates }) => gates.at(-1));
    expect(denied).toMatchObject([
      { gate: 'arguments', code: 'PERDURE_TOOL_INPUT' },
      { gate: 'permission', code: 'PERDURE_TOOL_DENIED' },
      { gate: 'pre_tool_use', code: 'PERDURE_GATE_FAILED' },
    ]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test.each<[string, () => unknown, string]>([
    ['blocks', () => ({ action: 'block', reason: 'not now' }), 'PERDURE_TOOL_DENIED'],
    ['asks to retry', () => ({ action: 'retry', delayMs: 70 }), 'PERDURE_TOOL_DENIED'],
    ['rejects', () => Promise.reject(new Error('broken')), 'PERDURE_GATE_FAILED'],
    ['hangs', () => new Promise(() => undefined), 'PERDURE_GATE_FAILED'],
    ['answers nonsense', () => ({ action: 'maybe' }), 'PERDURE_GATE_FAILED'],
  ])('one that %s keeps the call from running, and the turn goes on [P8]', async (_, answer, code) => {
    const { runtime, session, runs, facts } = await sessionWith(oneCall('lookup', 'a'));
    session.registerHook('guard', 'pre_tool_use', null, { timeoutMs: 30 }, answer as () => null);
    expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
    expect(await session.tool('lookup', { key: 'b' })).toMatchObject({ status: 'denied', failure: { code } });
    expect(await session.governedTool('lookup', { key: 'c' })).toMatchObject({ status: 'denied', failure: { code } });
    expect(runs).toEqual([]);
    const decided = await facts('ToolCallDecided');
    expect(decided.map(({ gates }) => gates.at(-1)?.code)).toEqual([code, code, code]);
    expect(await facts('ToolCallStarted')).toEqual([]);
    await runtime.dispose();
  });
});

describe('a hook that answers a permission request', () => {
  test.each<[string, () => unknown, 'completed' | 'denied', string | undefined]>([
    ['allow', () => ({ modified: { decision: 'allow' } }), 'completed', undefined],
    ['deny', () => ({ modified: { decision: 'deny' } }), 'denied', 'PERDURE_TOOL_DENIED'],
    ['block', () => ({ action: 'block' }), 'denied', 'PERDURE_TOOL_DENIED'],
    ['nothing: nobody is left to ask', () => null, 'denied', 'PERDURE_TOOL_NOBODY_TO_ASK'],
    ['nonsense', () => ({ modified: { decision: 'perhaps' } }), 'denied', 'PERDURE_GATE_FAILED'],
  ])('with %s', async (_, answer, status, code) => {
    const { runtime, session } = await sessionWith([]);
    session.registerHook('person', 'permission_request', null, null, answer as () => null);
    const outcome = await session.governedTool('other', { key: 'a' });
    expect(outcome.status).toBe(status);
    expect(outcome.failure?.code).toBe(code);
    await runtime.dispose();
  });
});

test('a hook before a prompt blocks it, and nothing is stored; or it replaces its text', async () => {
  const { runtime, session } = await sessionWith([{ text: 'one' }]);
  session.registerHook('guard', 'pre_prompt', null, null, ({ payload }) =>
    payload.prompt.includes('bad') ? { action: 'block', reason: 'bad word' } : { modified: { prompt: 'better' } },
  );
  await expect(session.send('a bad prompt')).rejects.toMatchObject({ code: 'PERDURE_PROMPT_BLOCKED' });
  expect((await session.messages()).total).toBe(0);
  await session.send('a prompt');
  expect((await session.messages()).items[0]).toMatchObject({ role: 'user', parts: [{ text: 'better' }] });
  await runtime.dispose();
});

test('a hook before compaction blocks it with a reason', async () => {
  const { runtime, session } = await sessionWith([{ text: 'one' }, { text: 'two' }]);
  await session.send('first');
  await session.send('second');
  session.registerHook('keep', 'pre_compact', null, null, () => ({ action: 'block', reason: 'on hold' }));
  expect(await (await session.compact()).finished).toMatchObject({
    success: false,
    error: { code: 'PERDURE_CHANGE_BLOCKED' },
  });
  await runtime.dispose();
});
