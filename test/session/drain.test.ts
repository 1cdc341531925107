import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type EventStore, type LanguageModel, type Placement } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

interface NodeOptions {
  readonly placement?: Placement;
  readonly tools?: object;
  readonly projections?: MemoryProjectionStore;
}

async function node(store: EventStore, nodeId: string, model: LanguageModel, options: NodeOptions = {}) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, options.projections), allowing],
    env: { nodeId },
    leaseTtlMs: 400,
    closeGraceMs: 200,
    keepsSessions: true,
    ...(options.placement === undefined ? {} : { placement: options.placement }),
  });
  const tools = (options.tools ?? { lookup: lookupTool() }) as never;
  const agent = runtime.agent({ id: 'clerk', model, tools });
  await agent.ready();
  return { runtime, agent };
}

interface Stored {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function factsOf(store: EventStore, id = 's'): Promise<readonly Stored[]> {
  const { facts } = await store.read(`session-_.${id}`);
  return facts.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) as Stored['payload'] }));
}

const of = (facts: readonly Stored[], type: string) => facts.filter((fact) => fact.type === type);
/** One for each epoch: on a busy machine an owner may have to say once more that it goes on. */
const owners = async (store: EventStore, id?: string) => {
  const taken = of(await factsOf(store, id), 'OwnershipTaken').map(({ payload }) => payload);
  return taken.filter(({ epoch }, index) => epoch !== taken[index - 1]?.['epoch']).map(({ node: name }) => name);
};

/** A tool that each time waits until it is let go. */
function gated() {
  const waiting: (() => void)[] = [];
  const tool = {
    description: 'Wait.',
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: () => new Promise((resolve) => waiting.push(() => resolve('let go'))),
  };
  return { tool, waiting, release: () => waiting.splice(0).forEach((go) => go()) };
}
const waitOnce = scriptByRound([{ calls: [{ name: 'wait', input: {} }] }, { text: 'done' }]);

test('a drained node hands a turn over at the end of its step, and another one ends it', async () => {
  const store = new MemoryEventStore();
  const { tool, waiting, release } = gated();
  const a = await node(store, 'a', new ScriptedModel(waitOnce), { tools: { wait: tool } });
  const b = await node(store, 'b', new ScriptedModel(waitOnce), { tools: { wait: tool } });
  const session = await a.agent.sessions.create({ sessionId: 's' });
  const turn = await session.prompt('one');
  await waitUntil(() => waiting.length === 1);
  const drained = a.runtime.drain();
  await waitUntil(async () => of(await factsOf(store), 'PassivationRequested').length === 1);
  release();
  expect(await drained).toEqual({ handedOver: 1, cut: 0, idle: 0 });
  // Here it is left where it is; whoever waits at a node that has it learns its end.
  expect(await turn.finished).toMatchObject({ status: 'suspended' });
  const handle = await (await b.agent.sessions.get('s')).resume();
  if (handle !== null) expect(await handle.finished).toMatchObject({ status: 'completed', text: 'done' });
  expect(await owners(store)).toEqual(['a', 'b']);
  const facts = await factsOf(store);
  expect(of(facts, 'ToolCallStarted').map(({ payload }) => payload['attempt'])).toEqual([1]);
  // A prompt that the drained node is given is accepted, and answered by the other one.
  const later = await session.prompt('two');
  await waitUntil(() => waiting.length === 1);
  release();
  expect((await later.finished).status).toBe('completed');
  expect((await owners(store)).slice(1).every((owner) => owner === 'b')).toBe(true);
  await b.runtime.dispose();
  await a.runtime.dispose();
});

test('what is still under way at the deadline is cut, and goes on elsewhere as its contract says', async () => {
  const store = new MemoryEventStore();
  const { tool, waiting, release } = gated();
  const a = await node(store, 'a', new ScriptedModel(waitOnce), { tools: { wait: tool } });
  const turn = await (await a.agent.sessions.create({ sessionId: 's' })).prompt('one');
  await waitUntil(() => waiting.length === 1);
  const report = await a.runtime.drain({ graceMs: 100, reason: 'the machine is old' });
  expect(report).toEqual({ handedOver: 0, cut: 1, idle: 0 });
  const facts = await factsOf(store);
  expect(of(facts, 'PassivationRequested')[0]?.payload).toMatchObject({ reason: 'the machine is old' });
  expect(of(facts, 'OwnershipReleased').length + of(facts, 'RunEnded').length).toBeGreaterThan(0);
  const b = await node(store, 'b', new ScriptedModel(waitOnce), { tools: { wait: tool } });
  await waitUntil(() => waiting.length === 2);
  release();
  expect((await turn.finished).status).toBe('suspended');
  const again = await (await b.agent.sessions.get('s')).resume();
  if (again !== null) expect((await again.finished).status).toBe('completed');
  expect(await owners(store)).toEqual(['a', 'b']);
  await b.runtime.dispose();
  await a.runtime.dispose();
});

test('a drained node refuses work of the host, and a wrong option is named', async () => {
  const store = new MemoryEventStore();
  const a = await node(store, 'a', new ScriptedModel([{ text: 'hello' }]));
  const session = await a.agent.sessions.create({ sessionId: 's' });
  await session.send('one');
  await expect(a.runtime.drain({ graceMs: -1 })).rejects.toThrow(/graceMs/);
  expect(await a.runtime.drain()).toEqual({ handedOver: 0, cut: 0, idle: 1 });
  expect(await a.runtime.drain()).toEqual({ handedOver: 0, cut: 0, idle: 0 });
  await expect(session.tool('lookup', { key: 'a' })).rejects.toSatisfy((error) =>
    isPerdureError(error, 'PERDURE_NODE_DRAINING'),
  );
  await expect(session.resume()).resolves.toBeNull();
  await a.runtime.dispose();
});

test('a turn that is handed over 20 times in its middle ends, and no call has a second attempt', async () => {
  const HOPS = 20;
  const store = new MemoryEventStore();
  const projections = new MemoryProjectionStore();
  const { tool, waiting, release } = gated();
  const steps = Array.from({ length: HOPS + 1 }, (_, hop) => ({ calls: [{ name: 'wait', input: { hop } }] }));
  const start = (hop: number) => {
    const model = new ScriptedModel(scriptByRound([...steps, { text: 'done' }]));
    return node(store, `n${hop}`, model, { projections, tools: { wait: { ...tool, effect: 'once' } } });
  };
  const first = await start(0);
  let current = first;
  const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
  for (let hop = 1; hop <= HOPS; hop++) {
    await waitUntil(() => waiting.length === 1);
    const drained = current.runtime.drain();
    await waitUntil(async () => of(await factsOf(store), 'PassivationRequested').length === hop);
    release();
    expect([hop, await drained]).toEqual([hop, { handedOver: 1, cut: 0, idle: 0 }]);
    if (current !== first) await current.runtime.dispose();
    current = await start(hop);
  }
  await waitUntil(() => waiting.length === 1);
  const handle = await (await current.agent.sessions.get('s')).resume();
  release();
  expect(await handle?.finished).toMatchObject({ status: 'completed', text: 'done' });
  expect((await turn.finished).status).toBe('suspended');
  const facts = await factsOf(store);
  expect(of(facts, 'ToolCallStarted').map(({ payload }) => payload['attempt'])).toEqual(steps.map(() => 1));
  expect(of(facts, 'OwnershipTaken').at(-1)?.payload).toMatchObject({ epoch: HOPS + 1 });
  expect(of(facts, 'ModelAnswered')).toHaveLength(HOPS + 2);
  await current.runtime.dispose();
  await first.runtime.dispose();
});
