import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type EventStore, type Placement, type RunnableSession } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const TTL = 300;

async function node(
  store: EventStore,
  nodeId: string,
  placement: Placement = {},
  warnings: string[] = [],
  pluginTimeoutMs = 30_000,
) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    env: { nodeId },
    leaseTtlMs: TTL,
    keepsSessions: true,
    placement,
    pluginTimeoutMs,
    logger: { log: (level, message) => (level === 'warn' ? warnings.push(message) : undefined) },
  });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel({ rules: [{ answer: { text: 'done' } }] }) });
  await agent.ready();
  return { runtime, agent };
}

/** Sessions with a turn that was accepted and that nobody runs: the node that took their prompts takes no sessions. */
async function orphans(store: EventStore, ids: readonly string[]) {
  const { runtime, agent } = await node(store, 'front');
  await runtime.drain();
  for (const sessionId of ids) await (await agent.sessions.create({ sessionId })).prompt('hello');
  await runtime.dispose();
}

async function ownerOf(store: EventStore, id: string): Promise<string | undefined> {
  const { facts } = await store.read(`session-_.${id}`);
  const taken = facts.findLast(({ type }) => type === 'OwnershipTaken');
  return taken === undefined ? undefined : (JSON.parse(taken.payload) as { readonly node: string }).node;
}

test('a session is offered with what there is to decide by, left, and offered again', async () => {
  const store = new MemoryEventStore();
  await orphans(store, ['s']);
  const offers: RunnableSession[] = [];
  const onRunnable = (session: RunnableSession) => (offers.push(session) < 3 ? ('leave' as const) : ('take' as const));
  const a = await node(store, 'a', { onRunnable });
  await waitUntil(async () => (await ownerOf(store, 's')) === 'a');
  expect(offers).toEqual(
    [0, 1, 2].map((offered) => ({ sessionId: 's', tenantId: null, agentId: 'clerk', lastNode: null, offers: offered })),
  );
  await a.runtime.dispose();
});

test('sessions go to the node that is preferred, and elsewhere when that does not live', async () => {
  const store = new MemoryEventStore();
  const placement = { preferenceMs: 60_000, onRunnable: () => ({ preferredNode: 'b' }) };
  const b = await node(store, 'b', placement);
  // It holds its lease with the first session that it has.
  await (await b.agent.sessions.create({ sessionId: 'first' })).send('hello');
  const a = await node(store, 'a', placement);
  await orphans(store, ['s1', 's2', 's3']);
  for (const id of ['s1', 's2', 's3']) await waitUntil(async () => (await ownerOf(store, id)) === 'b');
  await b.runtime.dispose();
  await orphans(store, ['s4']);
  await waitUntil(async () => (await ownerOf(store, 's4')) === 'a');
  await a.runtime.dispose();
});

test('a preference has an end', async () => {
  const store = new MemoryEventStore();
  const b = await node(store, 'b', { onRunnable: () => 'leave' });
  await (await b.agent.sessions.create({ sessionId: 'first' })).send('hello');
  const a = await node(store, 'a', { preferenceMs: 500, onRunnable: () => ({ preferredNode: 'b' }) });
  await orphans(store, ['s']);
  await waitUntil(async () => (await ownerOf(store, 's')) === 'a');
  await a.runtime.dispose();
  await b.runtime.dispose();
});

test('a node takes no more than it has room for, and the rest when there is room again', async () => {
  const store = new MemoryEventStore();
  const ids = ['s1', 's2', 's3', 's4', 's5'];
  await orphans(store, ids);
  const waiting: (() => void)[] = [];
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    env: { nodeId: 'a' },
    keepsSessions: true,
    placement: { capacity: 2 },
  });
  const slow = new ScriptedModel(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { text: 'done' };
  });
  await runtime.agent({ id: 'clerk', model: slow }).ready();
  await waitUntil(() => waiting.length === 2);
  // Enough time for the next offers.
  await new Promise((resolve) => setTimeout(resolve, 700));
  const owned = await Promise.all(ids.map((id) => ownerOf(store, id)));
  expect(owned.filter((owner) => owner === 'a')).toHaveLength(2);
  const going = setInterval(() => waiting.splice(0).forEach((go) => go()), 20);
  for (const id of ids) await waitUntil(async () => (await ownerOf(store, id)) === 'a');
  await runtime.drain();
  clearInterval(going);
  await runtime.dispose();
});

test('a placement that fails or answers nonsense leaves the session, and is told once', async () => {
  const store = new MemoryEventStore();
  await orphans(store, ['s']);
  const warnings: string[] = [];
  let offers = 0;
  const onRunnable = () => {
    offers += 1;
    if (offers === 1) throw new Error('no idea');
    return 'perhaps' as 'take';
  };
  const a = await node(store, 'a', { onRunnable }, warnings);
  await waitUntil(() => offers >= 3);
  expect(await ownerOf(store, 's')).toBeUndefined();
  expect(warnings.filter((message) => message.includes('placement'))).toHaveLength(1);
  await a.runtime.dispose();
  await expect(node(store, 'b', { capacity: 0 })).rejects.toSatisfy(
    (error) => isPerdureError(error, 'PERDURE_CONFIGURATION') && error.data['field'] === 'placement.capacity',
  );
});

test('a placement that never answers has failed, and holds up no other session and no end', async () => {
  const store = new MemoryEventStore();
  const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
  await orphans(store, ids);
  const warnings: string[] = [];
  const onRunnable = ({ sessionId }: RunnableSession) =>
    sessionId === 's0' ? new Promise<'take'>(() => undefined) : ('take' as const);
  // Capacity has them taken one after the other.
  const a = await node(store, 'a', { capacity: 20, onRunnable }, warnings, 3_000);
  for (const id of ids.slice(1)) await waitUntil(async () => (await ownerOf(store, id)) === 'a');
  expect(warnings).toEqual([]);
  await waitUntil(() => warnings.includes('The placement of a session failed.'));
  expect(await ownerOf(store, 's0')).toBeUndefined();
  await a.runtime.dispose();
  // One that is disposed while the host thinks.
  let isAsked = false;
  const neverAnswer = () => {
    isAsked = true;
    return new Promise<'take'>(() => undefined);
  };
  const b = await node(store, 'b', { onRunnable: neverAnswer });
  await waitUntil(() => isAsked);
  await b.runtime.dispose();
});

test('a placement that takes its time is followed when it has answered', async () => {
  const store = new MemoryEventStore();
  await orphans(store, ['s']);
  let offers = 0;
  const onRunnable = async () => {
    offers += 1;
    await new Promise((resolve) => setTimeout(resolve, 700));
    return 'take' as const;
  };
  const a = await node(store, 'a', { onRunnable });
  await waitUntil(async () => (await ownerOf(store, 's')) === 'a');
  expect(offers).toBe(1);
  await a.runtime.dispose();
});
