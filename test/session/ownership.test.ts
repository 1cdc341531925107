import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type EventStore, type LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { faultyEventStore, scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { severable } from '../fixtures/severable.js';
import { waitUntil } from '../fixtures/wait-until.js';

const rounds = scriptByRound([{ calls: [{ name: 'lookup', input: { key: 'a' } }] }, { text: 'done' }]);

async function node(store: EventStore, nodeId: string, model: LanguageModel, tools: object = { lookup: lookupTool() }) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId }, leaseTtlMs: 300 });
  const agent = runtime.agent({ id: 'clerk', model, tools: tools as never });
  await agent.ready();
  return { runtime, agent };
}

/** A tool that waits until it is let go. */
function gatedTool(effect: 'read' | 'once' | 'idempotent') {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const runs: string[] = [];
  const tool = {
    description: 'Wait.',
    inputSchema: { type: 'object' },
    effect,
    execute: async (_: object, { toolCallId }: { toolCallId: string }) => {
      runs.push(toolCallId);
      await gate;
      return 'let go';
    },
  };
  return { tool, runs, release: () => open() };
}

async function types(store: EventStore): Promise<string[]> {
  return (await store.read('session-_.s')).facts.map(({ type }) => type);
}

describe('two nodes with one session [P4]', () => {
  test('one runs it; the other is refused, and its prompts are answered by the owner in order', async () => {
    const store = new MemoryEventStore();
    const { tool, runs, release } = gatedTool('read');
    const script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'wait', input: {} }] } },
        { answer: { text: 'ok' } },
      ],
    };
    const a = await node(store, 'a', new ScriptedModel(script), { wait: tool });
    const b = await node(store, 'b', new ScriptedModel(script), { wait: tool });
    const turn = await (await a.agent.sessions.create({ sessionId: 's' })).prompt('one');
    await waitUntil(() => runs.length === 1);
    const other = await b.agent.sessions.get('s');
    const { turn: running } = await other.info();
    await expect(other.resumeRun(running?.runId ?? '')).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_SESSION_OWNED') && error.data['node'] === 'a',
    );
    const queued = await other.prompt({ query: 'two', whenBusy: 'queue' });
    release();
    expect((await turn.finished).text).toBe('ok');
    expect((await queued.finished).status).toBe('completed');
    expect((await other.info()).owner).toMatchObject({ node: 'a', epoch: 1 });
    expect((await other.messages()).items.filter(({ role }) => role === 'user')).toHaveLength(2);
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('a change that another node asks for is applied by the owner and told, also when that is gone', async () => {
    const store = new MemoryEventStore();
    const model = () => new ScriptedModel([{ text: 'one' }]);
    const a = await node(store, 'a', model());
    const b = await node(store, 'b', model());
    await (await a.agent.sessions.create({ sessionId: 's' })).send('hello');
    const other = await b.agent.sessions.get('s');
    expect(await (await other.set({ model: 'default' })).finished).toEqual({ success: true });
    expect((await other.info()).owner?.node).toBe('a');
    const unknown = await other.set({ model: 'none' });
    expect(await unknown.finished).toMatchObject({ error: { code: 'PERDURE_MODEL_UNKNOWN' } });
    await a.runtime.dispose();
    expect(await (await other.set({ model: 'default' })).finished).toEqual({ success: true });
    await b.runtime.dispose();
  });

  test('a take-over fences the old owner: it appends nothing more and reports what it learns as late', async () => {
    const store = new MemoryEventStore();
    const { tool, runs, release } = gatedTool('once');
    const script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'wait', input: {} }] } },
        { answer: { text: 'ok' } },
      ],
    };
    const a = await node(store, 'a', new ScriptedModel(script), { wait: tool });
    const b = await node(store, 'b', new ScriptedModel(script), { wait: tool });
    const turn = await (await a.agent.sessions.create({ sessionId: 's' })).prompt('one');
    await waitUntil(() => runs.length === 1);
    const other = await b.agent.sessions.get('s');
    const handle = await other.resume({ takeOver: true });
    expect((await handle?.finished)?.text).toBe('ok');
    release();
    // The old owner goes on as a reader and learns how its turn ended.
    expect(await turn.finished).toMatchObject({ status: 'completed', text: 'ok' });
    await waitUntil(async () => (await types(store)).includes('LateResultReported'));
    expect(runs).toHaveLength(1);
    const facts = (await store.read('session-_.s')).facts;
    const settled = facts
      .filter(({ type }) => type === 'ToolCallSettled')
      .map(({ payload }) => JSON.parse(payload).status);
    expect(settled).toEqual(['unknown']);
    // The model is told at the next step.
    await other.prompt('what came of it?').then(({ finished }) => finished);
    const notes = (await other.messages()).items.flatMap((m) => (m.role === 'user' ? m.parts : []));
    expect(notes.some((part) => part.type === 'text' && part.text.includes('let go'))).toBe(true);
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('a dead owner is replaced when its lease has not been renewed for its time to live', async () => {
    const store = new MemoryEventStore();
    const { tool, runs } = gatedTool('read');
    const script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'wait', input: {} }] } },
        { answer: { text: 'ok' } },
      ],
    };
    const line = severable(store);
    const dead = await node(line.store, 'dead', new ScriptedModel(script), { wait: tool });
    await (await dead.agent.sessions.create({ sessionId: 's' })).prompt('one');
    await waitUntil(() => runs.length === 1);
    // For all others the node is gone without a word: nothing is renewed, nothing released.
    line.sever();
    const b = await node(store, 'b', new ScriptedModel(script), { wait: { ...tool, execute: () => 'read again' } });
    const session = await b.agent.sessions.get('s');
    const began = performance.now();
    const handle = await session.prompt('hurry');
    expect((await handle.finished).status).toBe('completed');
    expect(performance.now() - began).toBeGreaterThan(250);
    const facts = (await store.read('session-_.s')).facts;
    const taken = facts
      .filter(({ type }) => type === 'OwnershipTaken')
      .map(({ payload }) => JSON.parse(payload).reason);
    // A busy machine makes the owner's own lease run out too, and then it says that it goes on.
    expect(taken.filter((reason) => reason !== 'lease-renewed')).toEqual(['first', 'owner-dead']);
    await b.runtime.dispose();
  });

  test('32 resumes of one run from two nodes make one new run', async () => {
    const store = new MemoryEventStore();
    const { tool, runs } = gatedTool('read');
    const script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'wait', input: {} }] } },
        { answer: { text: 'ok' } },
      ],
    };
    const dead = await node(store, 'dead', new ScriptedModel(script), { wait: tool });
    const first = await (await dead.agent.sessions.create({ sessionId: 's' })).prompt('one');
    await waitUntil(() => runs.length === 1);
    await dead.runtime.dispose();
    expect((await first.finished).status).toBe('suspended');
    const nodes = await Promise.all(
      ['b', 'c'].map((id) =>
        node(store, id, new ScriptedModel(script), { wait: { ...tool, execute: () => 'read again' } }),
      ),
    );
    const runId = String((await first.finished).runId);
    const sessions = await Promise.all(
      nodes.flatMap(({ agent }) => Array.from({ length: 16 }, () => agent.sessions.get('s'))),
    );
    const results = await Promise.all(sessions.map((session) => session.resumeRun(runId)));
    expect(results.every(({ status }) => status === 'completed')).toBe(true);
    expect(new Set(results.map((result) => result.runId)).size).toBe(1);
    expect((await types(store)).filter((type) => type === 'RunStarted')).toHaveLength(2);
    for (const { runtime } of nodes) await runtime.dispose();
  });
});

describe('races of inputs with the owner', () => {
  test('a steer that races the end of a run is answered, and a stop that races a call starts nothing', async () => {
    for (let round = 0; round < 30; round++) {
      const store = new MemoryEventStore();
      const a = await node(store, 'a', new ScriptedModel(rounds));
      const b = await node(store, 'b', new ScriptedModel(rounds));
      const session = await a.agent.sessions.create({ sessionId: 's' });
      const turn = await session.prompt('one');
      const other = await b.agent.sessions.get('s');
      for (let hops = 0; hops < round; hops++) await Promise.resolve();
      const steer = await other.prompt('two');
      expect((await steer.finished).status).toBe('completed');
      expect((await turn.finished).status).toBe('completed');
      const state = await other.messages();
      const users = state.items.filter(({ role }) => role === 'user');
      expect(users).toHaveLength(2);
      expect(state.items.at(-1)?.role).toBe('assistant');
      await b.runtime.dispose();
      await a.runtime.dispose();
    }
  });
});

test('whoever follows a session learns that its store failed for good [R2]', async () => {
  const inner = new MemoryEventStore();
  const store = faultyEventStore(inner, [
    { verb: 'append', category: 'session', occurrence: 3, times: 10_000, fault: 'unavailable' },
  ]);
  const a = await node(store, 'a', new ScriptedModel(rounds), { lookup: lookupTool([]) });
  const session = await a.agent.sessions.create({ sessionId: 's' });
  const stream = session.stream('go');
  const read = async (events: AsyncIterable<unknown>): Promise<number> => {
    let count = 0;
    for await (const _ of events) count++;
    return count;
  };
  const failed = (error: unknown): boolean => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE');
  await Promise.all([
    expect(read(stream)).rejects.toSatisfy(failed),
    expect(read(session.events())).rejects.toSatisfy(failed),
    expect(stream.finished).resolves.toMatchObject({
      status: 'suspended',
      error: { code: 'PERDURE_STORE_UNAVAILABLE' },
    }),
  ]);
  await a.runtime.dispose();
  const b = await node(inner, 'b', new ScriptedModel(rounds), { lookup: lookupTool([]) });
  const turn = await (await b.agent.sessions.get('s')).resume({ takeOver: true });
  expect((await turn?.finished)?.text).toBe('done');
  await b.runtime.dispose();
});

test('a store that does not tell what it did is asked again, and everything counts once', async () => {
  const inner = new MemoryEventStore();
  const store = faultyEventStore(inner, [
    { verb: 'append', category: 'session', occurrence: 2, fault: 'ambiguous', stored: true },
    { verb: 'append', category: 'session', occurrence: 5, times: 2, fault: 'ambiguous', stored: false },
    { verb: 'append', category: 'session', occurrence: 9, fault: 'unavailable' },
    { verb: 'append', category: 'session', occurrence: 11, fault: 'ambiguous', stored: true },
  ]);
  const calls: string[] = [];
  const a = await node(store, 'a', new ScriptedModel(rounds), { lookup: lookupTool(calls) });
  const session = await a.agent.sessions.create({ sessionId: 's' });
  expect((await session.send('go')).text).toBe('done');
  expect(calls).toEqual(['a']);
  expect((await types(inner)).filter((type) => type === 'ToolCallSettled')).toHaveLength(1);
  expect((await a.agent.replay('s')).difference).toBeUndefined();
  await a.runtime.dispose();
});
