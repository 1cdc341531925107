import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { severable } from '../fixtures/severable.js';
import { waitUntil } from '../fixtures/wait-until.js';

const TTL = 400;

async function node(store: EventStore, nodeId: string, leaseTtlMs = TTL) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    env: { nodeId },
    leaseTtlMs,
    keepsSessions: true,
  });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel({ rules: [{ answer: { text: 'done' } }] }) });
  await agent.ready();
  return { runtime, agent };
}

test('nodes are listed with their sessions and whether they live, until they give their lease back', async () => {
  const store = new MemoryEventStore();
  const line = severable(store);
  const a = await node(store, 'a/1');
  const dead = await node(line.store, 'dead');
  await a.runtime.join();
  await (await dead.agent.sessions.create({ sessionId: 's' })).send('hello');
  line.sever();
  const observer = await node(store, 'observer');
  const listed = await observer.runtime.nodes();
  expect(listed).toMatchObject([
    { node: 'a/1', isAlive: true, ttlMs: TTL, sessions: 0 },
    { node: 'dead', isAlive: false, sessions: 1 },
  ]);
  await a.runtime.dispose();
  expect((await observer.runtime.nodes()).map(({ node: name }) => name)).toEqual(['dead']);
  await observer.runtime.dispose();
});

test('a node is drained by its name through the store, and no later process of that name', async () => {
  const store = new MemoryEventStore();
  const a = await node(store, 'a');
  const operator = await node(store, 'operator');
  const notFound = (error: unknown) => isPerdureError(error, 'PERDURE_NODE_NOT_FOUND');
  await expect(operator.runtime.requestDrain('a')).rejects.toSatisfy(notFound);
  await (await a.agent.sessions.create({ sessionId: 's' })).send('hello');
  expect(await operator.runtime.sessionsOf('a')).toBe(1);
  await operator.runtime.requestDrain('a', { reason: 'it is old', graceMs: 1_000 });
  expect(await a.runtime.drained).toEqual({ handedOver: 0, cut: 0, idle: 1 });
  const { facts } = await store.read('session-_.s');
  expect(facts.find(({ type }) => type === 'PassivationRequested')?.payload).toContain('it is old');
  await waitUntil(async () => (await operator.runtime.sessionsOf('a')) === 0);
  await a.runtime.dispose();
  const again = await node(store, 'a');
  expect((await (await again.agent.sessions.get('s')).send('hello again')).status).toBe('completed');
  await again.runtime.dispose();
  await expect(operator.runtime.requestDrain('a')).rejects.toSatisfy(notFound);
  await operator.runtime.dispose();
});

test('a lease is watched for as long as it says itself, whatever the observer would say', async () => {
  const store = new MemoryEventStore();
  const line = severable(store);
  const slow = await node(line.store, 'slow', 3_000);
  await (await slow.agent.sessions.create({ sessionId: 's' })).send('hello');
  line.sever();
  const { lease } = (await node(store, 'hasty', 100)).runtime.services;
  expect(await lease.isAlive('slow', slow.runtime.services.lease.incarnation)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(await lease.isAlive('slow', slow.runtime.services.lease.incarnation)).toBe(true);
});
