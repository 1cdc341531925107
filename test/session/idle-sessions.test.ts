import { createTestRuntime } from '@perdure/core/testing';
import type { AgentOptions, Tool } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { toolsDelegate } from '@perdure/tools-delegate';
import { expect, test } from 'vitest';
import { allowing, storesWith } from '../fixtures/agents.js';
import { handOn } from '../fixtures/delegating.js';
import { waitUntil } from '../fixtures/wait-until.js';

async function node(idleGraceMs: number, given: Partial<AgentOptions> = {}) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, new MemoryProjectionStore()), allowing, { plugin: toolsDelegate, config: {} }],
    keepsSessions: true,
    idleGraceMs,
  });
  const model = new ScriptedModel({ rules: [{ answer: { text: 'done' } }] });
  const agent = runtime.agent({ id: 'clerk', model, ...given });
  await agent.ready();
  const types = async () => (await store.read('session-_.s')).facts.map(({ type }) => type);
  const released = async (times: number) =>
    (await types()).filter((type) => type === 'OwnershipReleased').length === times;
  return { runtime, agent, types, released };
}

test('a session without a turn leaves memory, and its handle goes on [P18]', async () => {
  const { runtime, agent, released } = await node(10);
  const session = await agent.sessions.create({ sessionId: 's', principal: 'ada' });
  expect((await session.send('go')).text).toBe('done');
  await waitUntil(() => released(1));
  expect(session.principal).toBe('ada');
  expect(await session.info()).toMatchObject({ owner: null });
  expect((await session.send('and again')).text).toBe('done');
  await waitUntil(() => released(2));
  expect((await agent.replay('s')).difference).toBeUndefined();
  await runtime.dispose();
});

test('a session without a turn stays as long as somebody here watches it [P18]', async () => {
  const { runtime, agent, released, types } = await node(10);
  const session = await agent.sessions.create({ sessionId: 's' });
  let seen = 0;
  const leave = session.subscribe(() => (seen += 1));
  await session.send('go');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await types()).not.toContain('OwnershipReleased');
  await session.send('and again');
  expect(seen).toBeGreaterThan(0);
  leave();
  await waitUntil(() => released(1));
  await runtime.dispose();
});

test('hooks are told once that a session ends that had left memory, with what it was [P18]', async () => {
  const { runtime, agent, released } = await node(10);
  const session = await agent.sessions.create({ sessionId: 's' });
  const told: string[] = [];
  session.registerHook('begin', 'session_start', null, null, () => void told.push('began'));
  session.registerHook('end', 'session_end', null, null, ({ payload }) => void told.push(JSON.stringify(payload)));
  await session.send('go');
  await waitUntil(() => released(1));
  await session.send('and again');
  await waitUntil(() => released(2));
  expect(told.filter((each) => each !== 'began')).toEqual([]);
  await session.close();
  await runtime.dispose();
  expect(told.filter((each) => each !== 'began')).toEqual([expect.stringContaining('"total_tool_calls":0')]);
});

test('what runs in the background is told of as it ends, however long that takes [P18]', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const model = new ScriptedModel(({ lastUserText, toolResultsSince: { length } }) => {
    if (lastUserText === 'slow') return length === 0 ? { calls: [{ name: 'gated', input: {} }] } : { text: 'slowly' };
    if (lastUserText !== 'go' || length > 0) return { text: 'done' };
    return { calls: [handOn(['slow'], { background: true })] };
  });
  const gated = { inputSchema: { type: 'object' }, effect: 'read' as const, execute: () => gate.then(() => 'opened') };
  const { runtime, agent, types, released } = await node(10, { model, tools: { gated } });
  const session = await agent.sessions.create({ sessionId: 's' });
  await session.send('go');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await types()).not.toContain('OwnershipReleased');
  open();
  await waitUntil(async () => (await types()).includes('ChildEnded'));
  await waitUntil(() => released(1));
  await runtime.dispose();
});

test('a session that left memory has the variables, commands and hooks that it had [P15] [P18]', async () => {
  const seen: unknown[] = [];
  const look: Tool = {
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: (_, { env = {} }) => {
      seen.push(env['REGION']);
      return 'seen';
    },
  };
  const { runtime, agent, released } = await node(10, { tools: { look } });
  const session = await agent.sessions.create({ sessionId: 's', workspace: '/work' });
  await session.set({ env: { REGION: 'north' } });
  session.registerCommand('greet', 'Greets.', () => 'hello');
  let hooked = 0;
  session.registerHook('count', 'pre_tool_use', null, null, () => void (hooked += 1));
  const commands = session.listCommands();
  await session.tool('look', {});
  await waitUntil(() => released(1));
  expect(session.listCommands()).toEqual(commands);
  await session.tool('look', {});
  expect(seen).toEqual(['north', 'north']);
  expect(hooked).toBe(2);
  await runtime.dispose();
});

test('the grace is checked by its name', async () => {
  await expect(node(-1)).rejects.toMatchObject({ code: 'PERDURE_CONFIGURATION', data: { field: 'idleGraceMs' } });
});
