import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore, Tools } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const call = (key: string) => ({ name: 'lookup', input: { key } });
const rounds = scriptByRound([{ calls: [call('a'), call('b')] }, { calls: [call('c')] }, { text: 'done' }]);

async function node(store: EventStore, nodeId: string, tools: Tools) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const model = new ScriptedModel(rounds);
  const agent = runtime.agent({ id: 'clerk', model, tools });
  await agent.ready();
  return { runtime, agent, model };
}

const factsOf = async (store: EventStore, session = 's') => (await store.read(`session-_.${session}`)).facts;

describe('a run that its process left', () => {
  test('has a checkpoint behind each round of tools alone, and goes on behind the last [A7]', async () => {
    const store = new MemoryEventStore();
    const runs: string[] = [];
    const lookup = lookupTool(runs);
    const slow = {
      ...lookup,
      execute: (input: { key: string }) =>
        input.key === 'c' ? new Promise(() => runs.push('c')) : lookup.execute(input),
    };
    const first = await node(store, 'a', { lookup: slow });
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(() => runs.includes('c'));
    const types = (await factsOf(store)).map(({ type }) => type);
    // The first round has ended, the second is in its tool.
    expect(types.filter((type) => type === 'StepCheckpointed')).toHaveLength(1);
    expect(types.indexOf('StepCheckpointed')).toBeGreaterThan(types.lastIndexOf('ToolCallSettled'));
    expect(types.at(-1)).toBe('ToolCallStarted');
    await first.runtime.dispose();
    const runId = String((await turn.finished).runId);
    const before = await factsOf(store);

    const second = await node(store, 'b', { lookup });
    const result = await (await second.agent.sessions.get('s')).resumeRun(runId);
    expect(result).toMatchObject({ status: 'completed', text: 'done' });
    expect(result.runId).not.toBe(runId);
    // Neither what was answered nor what was settled is asked for again.
    expect(second.model.calls).toHaveLength(1);
    expect(runs).toEqual(['a', 'b', 'c', 'c']);
    const after = await factsOf(store);
    expect(after.slice(0, before.length)).toEqual(before);
    const started = after
      .filter(({ type }) => type === 'RunStarted')
      .map(({ payload }) => JSON.parse(payload) as object);
    expect(started).toMatchObject([{ runId }, { runId: result.runId, resumedFrom: runId }]);
    // What was spent before counts on.
    expect(result.usage.inputTokens).toBe(30);
    await second.runtime.dispose();
  });

  test('is refused where there is none, or it is of another session; a fresh session is free [A7]', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, 'a', { lookup: lookupTool() });
    const session = await agent.sessions.create({ sessionId: 's' });
    const { runId } = await session.send('go');
    const other = await agent.sessions.create({ sessionId: 'other' });
    for (const unknown of ['no-such-run', String(runId)]) {
      await expect(other.resumeRun(unknown)).rejects.toMatchObject({
        code: 'PERDURE_RUN_NOT_FOUND',
        message: `no loop checkpoint found for run '${unknown}'`,
      });
    }
    expect((await factsOf(store, 'other')).map(({ type }) => type)).toEqual(['SessionCreated']);
    expect(await other.send('go')).toMatchObject({ success: true });
    // One that has ended is told again, and nothing of it runs.
    const count = (await factsOf(store)).length;
    expect(await session.resumeRun(String(runId))).toMatchObject({ status: 'completed', runId });
    expect(await factsOf(store)).toHaveLength(count);
    await runtime.dispose();
  });

  test('is refused while its owner lives, and may be asked for again later [A7]', async () => {
    const store = new MemoryEventStore();
    const waits = { ...lookupTool(), execute: () => new Promise(() => undefined) };
    const first = await node(store, 'a', { lookup: waits });
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    const second = await node(store, 'b', { lookup: lookupTool() });
    const session = await second.agent.sessions.get('s');
    for await (const event of session.events()) if (event.type === 'tool_execution_start') break;
    const { runId } = (await factsOf(store))
      .filter(({ type }) => type === 'RunStarted')
      .map(({ payload }) => JSON.parse(payload) as { runId: string })[0] ?? { runId: '' };
    await expect(session.resumeRun(runId)).rejects.toMatchObject({ code: 'PERDURE_SESSION_OWNED' });
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    expect(await session.resumeRun(runId)).toMatchObject({ status: 'completed', text: 'done' });
    await second.runtime.dispose();
  });

  test('cannot be left behind without a store: no runtime starts without one [A7]', async () => {
    await expect(createTestRuntime({ plugins: [allowing] })).rejects.toMatchObject({
      message: expect.stringContaining('event-store') as unknown,
    });
  });
});
