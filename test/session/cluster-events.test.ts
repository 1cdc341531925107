import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

async function node(store: EventStore, nodeId: string, script: Script, tools: object = { lookup: lookupTool() }) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools: tools as never });
  await agent.ready();
  return { runtime, agent };
}

const facts = async (store: EventStore) => (await store.read('session-_.s')).facts;
const types = async (store: EventStore) => (await facts(store)).map(({ type }) => type);
const call = { calls: [{ name: 'lookup', input: { key: 'a' } }] };
const twoSteps: Script = { rules: [{ when: { toolResults: 0 }, answer: call }, { answer: { text: 'done' } }] };

describe('an event of the cluster', () => {
  test('is a fact, an envelope of the vocabulary, and heard by hooks, from any node [A3] [A4]', async () => {
    const store = new MemoryEventStore();
    const a = await node(store, 'a', twoSteps);
    const b = await node(store, 'b', twoSteps);
    const session = await a.agent.sessions.create({ sessionId: 's', tenantId: 't' });
    const heard: unknown[] = [];
    for (const event of ['budget_threshold_hit', 'peer_invocation', 'passivation_requested'] as const) {
      session.registerHook(
        event,
        event,
        null,
        null,
        ({ event_type, payload }) => void heard.push({ event_type, ...payload }),
      );
    }
    await session.send('go');
    const other = await b.agent.sessions.get('s');
    const events = [
      { type: 'budget_threshold_hit', resource: 'usd_cost', kind: 'soft', consumed: 8, limit: 10, message: 'near' },
      { type: 'peer_invocation', from_session_id: 'x', from_tenant_id: 't2', correlation_id: 'c' },
      { type: 'passivation_requested', reason: 'node_drain', deadline_ms: 4_000_000_000_000 },
    ] as const;
    for (const event of events) await other.emit(event);
    await waitUntil(() => heard.length === 3);
    const labels = { session_id: 's', tenant_id: 't' };
    expect(heard).toMatchObject(events.map(({ type, ...fields }) => ({ event_type: type, ...labels, ...fields })));
    const seen: unknown[] = [];
    for await (const { type, payload } of other.events()) {
      if (events.some((event) => event.type === type)) seen.push({ type, ...payload });
      if (type === 'passivation_requested') break;
    }
    expect(seen).toMatchObject(events);
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test.each<[string, object, string]>([
    ['of no known type', { type: 'news' }, 'event.type'],
    ['without a field', { type: 'peer_invocation' }, 'event.from_session_id'],
    ['with another field', { type: 'peer_invocation', from_session_id: 'x', colour: 'red' }, 'event.colour'],
    ['with two deadlines', { type: 'passivation_requested', reason: 'r', deadline_ms: 1, graceMs: 1 }, 'event.graceMs'],
    [
      'with a number that is none',
      { type: 'budget_threshold_hit', resource: 'r', kind: 'soft', consumed: Number.NaN, limit: 1 },
      'event.consumed',
    ],
  ])('%s is refused by its field', async (_, event, field) => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, 'a', twoSteps);
    const session = await agent.sessions.create({ sessionId: 's' });
    const refused = session.emit(event as never);
    await expect(refused).rejects.toMatchObject({ code: 'PERDURE_INPUT_INVALID', data: { field } });
    expect(await types(store)).toEqual(['SessionCreated']);
    await runtime.dispose();
  });
});

describe('a passivation', () => {
  test('lets the running step end, hands the run over, and another node goes on where it was [A5]', async () => {
    const store = new MemoryEventStore();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const runs: string[] = [];
    const waiting = {
      ...lookupTool(runs),
      effect: 'once' as const,
      execute: () => gate.then(() => (runs.push('x'), 'ok')),
    };
    const a = await node(store, 'a', twoSteps, { lookup: waiting });
    const b = await node(store, 'b', twoSteps, { lookup: waiting });
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await types(store)).includes('ToolCallStarted'));
    const other = await b.agent.sessions.get('s');
    await other.emit({ type: 'passivation_requested', reason: 'node_drain' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await other.info()).owner?.node).toBe('a');
    open();
    expect(await turn.finished).toMatchObject({ status: 'suspended' });
    const handle = await other.resume();
    expect(await handle?.finished).toMatchObject({ status: 'completed', text: 'done' });
    expect(runs).toEqual(['x']);
    expect((await other.info()).owner?.node).toBe('b');
    expect(await session.messages()).toMatchObject({ total: 4 });
    const ended = (await facts(store))
      .filter(({ type }) => type === 'RunEnded')
      .map(({ payload }) => JSON.parse(payload).status);
    expect(ended).toEqual(['handed-over', 'completed']);
    expect((await b.agent.replay('s')).difference).toBeUndefined();
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('does not wait longer than its deadline [A5]', async () => {
    const store = new MemoryEventStore();
    const hanging = { ...lookupTool(), execute: () => new Promise(() => undefined) };
    const { runtime, agent } = await node(store, 'a', twoSteps, { lookup: hanging });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await types(store)).includes('ToolCallStarted'));
    await session.emit({ type: 'passivation_requested', reason: 'migration', graceMs: 30 });
    expect(await turn.finished).toMatchObject({ status: 'suspended' });
    expect((await types(store)).at(-1)).toBe('RunEnded');
    await runtime.dispose();
  });

  test('lets an idle session go at once; the handle opens it again with its next use', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, 'a', twoSteps);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('go');
    await session.emit({ type: 'passivation_requested', reason: 'idle_reaper' });
    await waitUntil(async () => (await types(store)).at(-1) === 'OwnershipReleased');
    expect((await session.info()).owner).toBeNull();
    expect((await session.send('again')).success).toBe(true);
    expect((await session.info()).owner).toMatchObject({ node: 'a', epoch: 2 });
    await runtime.dispose();
  });
});
