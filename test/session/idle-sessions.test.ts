import { createTestRuntime } from '@perdure/core/testing';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { expect, test } from 'vitest';
import { allowing, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

async function node(idleGraceMs: number) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, new MemoryProjectionStore()), allowing],
    keepsSessions: true,
    idleGraceMs,
  });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel({ rules: [{ answer: { text: 'done' } }] }) });
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

test('the grace is checked by its name', async () => {
  await expect(node(-1)).rejects.toMatchObject({ code: 'PERDURE_CONFIGURATION', data: { field: 'idleGraceMs' } });
});
