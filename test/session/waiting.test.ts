import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { type EventStore, type ProjectionStore } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const call = (name: string, key: string) => ({ name, input: { key } });
const asking: Script = {
  rules: [
    { when: { toolResults: 0 }, answer: { text: 'I ask', calls: [call('ask', 'a'), call('ask', 'b')] } },
    { answer: { text: 'done' } },
  ],
};

interface Shared {
  readonly store: EventStore;
  readonly projections: ProjectionStore;
}
const shared = (): Shared => ({ store: new MemoryEventStore(), projections: new MemoryProjectionStore() });

/** A node that looks after sessions and lets go of those that wait at once. Without tools it can only answer. */
async function node(
  { store, projections }: Shared,
  nodeId = 'a',
  options: { expiresInMs?: number; runs?: false } = {},
) {
  const runs: string[] = [];
  const { expiresInMs } = options;
  const governance = governedBy(() => ({ decision: 'ask' }), expiresInMs === undefined ? {} : { expiresInMs });
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, projections), governance],
    env: { nodeId },
    leaseTtlMs: 300,
    waitingGraceMs: 10,
    keepsSessions: true,
  });
  const parts = { model: new ScriptedModel(asking), tools: { ask: lookupTool(runs, 'once') } };
  const agent = runtime.agent({ id: 'clerk', ...(options.runs === false ? {} : parts) });
  await agent.ready();
  return { runtime, agent, runs };
}

const facts = async ({ store }: Shared) => (await store.read('session-_.s')).facts;
const types = async (place: Shared) => (await facts(place)).map(({ type }) => type);
const payloads = async (place: Shared, type: string) =>
  (await facts(place)).filter((fact) => fact.type === type).map((fact) => JSON.parse(fact.payload));
const released = async (place: Shared, times = 1) =>
  (await types(place)).filter((type) => type === 'OwnershipReleased').length >= times;

async function waitingSession(place: Shared, options?: Parameters<typeof node>[2]) {
  const a = await node(place, 'a', options);
  const session = await a.agent.sessions.create({ sessionId: 's' });
  const turn = await session.prompt('go');
  await waitUntil(() => released(place));
  return { ...a, session, turn };
}

describe('a session that only waits for people [P18]', () => {
  test('is released with its run ended, and listed as waiting; what callers hold goes on working', async () => {
    const place = shared();
    const { runtime, agent, runs, session, turn } = await waitingSession(place);
    expect((await types(place)).slice(-2)).toEqual(['RunEnded', 'OwnershipReleased']);
    expect((await payloads(place, 'RunEnded'))[0]).toMatchObject({ status: 'handed-over' });
    expect((await agent.sessions.list()).items).toMatchObject([{ id: 's', status: 'waiting', owner: null }]);
    expect(await session.info()).toMatchObject({ owner: null, turn: { status: 'waiting' } });
    const [first, second] = await session.interactions();
    await session.respond({ id: first?.id ?? '', decision: 'allow', by: 'ada' });
    // One answer of two: it is taken in, and the session waits again.
    await waitUntil(() => released(place, 2));
    expect(runs).toEqual([]);
    await session.respond({ id: second?.id ?? '', decision: 'deny', by: 'ada' });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(runs).toEqual(['a']);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('goes on where it can when a process answers that cannot run it, and its caller learns the end', async () => {
    const place = shared();
    const { runtime, runs, turn } = await waitingSession(place);
    const b = await node(place, 'b', { runs: false });
    const other = await b.agent.sessions.get('s');
    for (const { id } of await other.interactions()) await other.respond({ id, decision: 'allow', by: 'ada' });
    await b.runtime.dispose();
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(runs).toEqual(['a', 'b']);
    await runtime.dispose();
  });

  test('that another process ran to its end is told to who waits here', async () => {
    const place = shared();
    const { runtime, runs, turn } = await waitingSession(place);
    const b = await node(place, 'b');
    const other = await b.agent.sessions.get('s');
    for (const { id } of await other.interactions()) await other.respond({ id, decision: 'allow', by: 'ada' });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect([runs, b.runs]).toEqual([[], ['a', 'b']]);
    expect(await payloads(place, 'ToolCallStarted')).toHaveLength(2);
    await b.runtime.dispose();
    await runtime.dispose();
  });

  test('is answered at its expiry though nobody has it, once, however many look', async () => {
    const place = shared();
    const { runtime, runs, turn } = await waitingSession(place, { expiresInMs: 400 });
    const others = await Promise.all(['b', 'c'].map((id) => node(place, id)));
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(await payloads(place, 'ApprovalResolved')).toMatchObject([
      { decision: 'deny', by: 'expiry', isExpiry: true },
      { decision: 'deny', by: 'expiry', isExpiry: true },
    ]);
    expect([...runs, ...others.flatMap((other) => other.runs)]).toEqual([]);
    for (const other of others) await other.runtime.dispose();
    await runtime.dispose();
  });

  test('keeps what comes meanwhile for its next step, and ends when it is stopped from anywhere', async () => {
    const place = shared();
    const { runtime, agent, session, turn } = await waitingSession(place);
    const steer = await session.prompt('and this');
    expect(steer.id).toBe(turn.id);
    const change = await session.set({ model: 'default' });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await types(place)).filter((type) => type === 'OwnershipTaken')).toHaveLength(1);
    const b = await node(place, 'b', { runs: false });
    await (await b.agent.sessions.get('s')).stop('enough');
    await b.runtime.dispose();
    expect((await turn.finished).status).toBe('cancelled');
    expect((await steer.finished).status).toBe('cancelled');
    expect(await change.finished).toEqual({ success: true });
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('is released by close, and by a wish that it leaves; its turns tell that nobody follows them', async () => {
    for (const way of ['close', 'passivate'] as const) {
      const place = shared();
      const { runtime, agent } = await node(place);
      const session = await agent.sessions.create({ sessionId: 's' });
      const listening = session.subscribe(() => undefined);
      const turn = await session.prompt('go');
      await waitUntil(async () => (await session.interactions()).length === 2);
      if (way === 'close') await session.close();
      else await session.emit({ type: 'passivation_requested', reason: 'manual' });
      expect((await turn.finished).status).toBe('suspended');
      await waitUntil(() => released(place));
      expect((await types(place)).slice(-2)).toEqual(['RunEnded', 'OwnershipReleased']);
      listening();
      await runtime.dispose();
    }
  });

  test('stays as long as someone here reads or listens, who misses nothing and reads nothing twice', async () => {
    const place = shared();
    const { runtime, agent } = await node(place);
    const session = await agent.sessions.create({ sessionId: 's' });
    const seen: string[] = [];
    const read = async (take: (event: string) => void): Promise<void> => {
      for await (const { type, metadata } of session.events()) {
        // What an answer holds comes as it grows, or with its fact.
        if (!/^(text|tool)_(delta|start|input_delta)$/.test(type)) take(`${String(metadata?.['revision'])} ${type}`);
        if (type === 'agent_end') return;
      }
    };
    const reading = read((event) => seen.push(event));
    const turn = await session.prompt('go');
    await waitUntil(() => seen.some((event) => event.endsWith('confirmation_required')));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await released(place)).toBe(false);
    for (const { id } of await session.interactions()) await session.respond({ id, decision: 'allow', by: 'ada' });
    await reading;
    expect((await turn.finished).text).toBe('done');
    const again: string[] = [];
    await read((event) => again.push(event));
    expect(seen).toEqual(again);
    expect(new Set(seen).size).toBe(seen.length);
    await runtime.dispose();
  });
});
