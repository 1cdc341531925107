import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type SessionRetentionLimits } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

const answers = new ScriptedModel((request) =>
  request.toolResultsSince.length === 0
    ? { calls: [{ name: 'lookup', input: { key: request.lastUserText } }] }
    : { text: 'done' },
);

async function start(retentionLimits?: SessionRetentionLimits, store = new MemoryEventStore()) {
  const logged: object[] = [];
  const logger = {
    log: (level: string, message: string, data?: object) => void logged.push({ level, message, ...data }),
  };
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], logger });
  const limits = retentionLimits === undefined ? {} : { retentionLimits };
  const agent = runtime.agent({ id: 'clerk', model: answers, tools: { lookup: lookupTool() }, ...limits });
  const session = await agent.sessions.create({ sessionId: 's' }).catch(() => agent.sessions.get('s'));
  return { runtime, agent, session, store, logged };
}

describe('what is retained of runs [A8]', () => {
  test('is everything when nothing is set', async () => {
    const { runtime, session } = await start();
    for (let turn = 0; turn < 5; turn++) await session.send(`turn ${turn}`);
    const runs = await session.runs();
    expect(runs.map(({ prompt }) => prompt)).toEqual(['turn 0', 'turn 1', 'turn 2', 'turn 3', 'turn 4']);
    const page = await session.runEventPage(runs[0]?.id ?? '');
    expect(page).toMatchObject({ firstAvailableSequence: 0, retentionGap: false, hasMore: false });
    expect(page?.events).toHaveLength(runs[0]?.eventCount ?? 0);
    await runtime.dispose();
  });

  test('are the newest runs; the one that goes on is never dropped; the stream has all', async () => {
    const { model, release } = gatedModel((request: { lastUserText: string }) => ({ text: request.lastUserText }));
    const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
    const agent = runtime.agent({ id: 'clerk', model, retentionLimits: { maxRunsRetained: 2 } });
    const session = await agent.sessions.create();
    const first = await session.prompt({ query: 'a', runId: 'r-a' });
    for (const name of ['b', 'c', 'd']) await session.prompt({ query: name, runId: `r-${name}` });
    while ((await session.currentRun()) === null) await new Promise((resolve) => setTimeout(resolve, 5));
    // Two newer ones wait behind the run that goes on.
    expect((await session.runs()).map(({ id, status }) => [id, status])).toEqual([
      ['r-a', 'executing'],
      ['r-c', 'created'],
      ['r-d', 'created'],
    ]);
    expect(await session.runSnapshot('r-b')).toBeNull();
    release();
    await first.finished;
    const last = await session.prompt({ query: 'd', runId: 'r-d' });
    await last.finished;
    expect((await session.runs()).map(({ id }) => id)).toEqual(['r-c', 'r-d']);
    expect(await session.runEventPage('r-a')).toBeNull();
    const starts = [];
    for await (const { type, payload } of session.events()) {
      if (type === 'agent_start') starts.push(payload['run_id']);
      if (type === 'agent_end' && starts.length === 4) break;
    }
    expect(starts).toEqual(['r-a', 'r-b', 'r-c', 'r-d']);
    await runtime.dispose();
  });

  test('are the newest events of a run; pages show the gap, and the count stays true', async () => {
    const { runtime, session, store } = await start();
    const { runId } = await session.send('go');
    const id = runId ?? '';
    const all = await session.runEvents(id);
    await runtime.dispose();
    const limited = await start({ maxEventsPerRun: 3 }, store);
    const kept = await limited.session.runEvents(id);
    expect(kept).toEqual(all.slice(-3));
    expect((await limited.session.runSnapshot(id))?.eventCount).toBe(all.length);
    const page = await limited.session.runEventPage(id, { limit: 2 });
    expect(page).toEqual({
      events: all.slice(-3, -1),
      firstAvailableSequence: all.length - 3,
      latestSequenceExclusive: all.length,
      nextAfterSequence: all.length - 2,
      retentionGap: true,
      hasMore: true,
    });
    const next = await limited.session.runEventPage(id, { afterSequence: page?.nextAfterSequence ?? 0 });
    expect(next).toMatchObject({ events: all.slice(-1), retentionGap: false, hasMore: false });
    const end = await limited.session.runEventPage(id, { afterSequence: all.length - 1 });
    expect(end).toMatchObject({ events: [], nextAfterSequence: all.length - 1, retentionGap: false, hasMore: false });
    await limited.runtime.dispose();
  });

  test('are the newest events that fit into bytes; one that is larger takes what is before it along', async () => {
    const { runtime, session, store } = await start();
    const { runId } = await session.send('go');
    const all = await session.runEvents(runId ?? '');
    const { facts } = await store.read('session-_.s');
    const sizes = facts
      .slice(-all.length)
      .map(({ payload, metadata }) => Buffer.byteLength(payload) + Buffer.byteLength(metadata));
    const lastTwo = (sizes.at(-1) ?? 0) + (sizes.at(-2) ?? 0);
    await runtime.dispose();
    for (const [bytes, kept] of [
      [lastTwo, 2],
      [lastTwo - 1, 1],
      [1, 0],
      [1_000_000, all.length],
    ] as const) {
      const limited = await start({ maxEventBytesPerRun: bytes }, store);
      expect(await limited.session.runEvents(runId ?? '')).toEqual(all.slice(all.length - kept));
      const page = await limited.session.runEventPage(runId ?? '');
      expect(page).toMatchObject({
        retentionGap: kept < all.length,
        nextAfterSequence: all.length - 1,
        hasMore: false,
      });
      await limited.runtime.dispose();
    }
  });

  test('is said by the agent, and by a session member by member', async () => {
    const { runtime, agent } = await start({ maxRunsRetained: 1, maxEventsPerRun: 4 });
    const session = await agent.sessions.create({ sessionId: 'own', retentionLimits: { maxEventsPerRun: 2 } });
    await session.send('one');
    const { runId } = await session.send('two');
    expect(await session.runs()).toHaveLength(1);
    expect(await session.runEvents(runId ?? '')).toHaveLength(2);
    await agent.sessions.get('own', { retentionLimits: { maxRunsRetained: 5 } });
    expect(await session.runs()).toHaveLength(2);
    expect(await session.runEvents(runId ?? '')).toHaveLength(2);
    await runtime.dispose();
  });

  test('warns of a limit that has nothing to bound', async () => {
    const { runtime, logged } = await start({ maxTraceEvents: 5, maxTerminalSubagentTasks: 5 });
    const fields = logged.flatMap((entry) => ('field' in entry ? [entry.field] : []));
    expect(fields).toEqual(['maxTraceEvents', 'maxTerminalSubagentTasks']);
    await runtime.dispose();
  });

  test.each<[string, unknown, string]>([
    ['maxRunsRetained', 0, 'retentionLimits.maxRunsRetained'],
    ['maxEventsPerRun', -1, 'retentionLimits.maxEventsPerRun'],
    ['maxEventBytesPerRun', 1.5, 'retentionLimits.maxEventBytesPerRun'],
    ['maxTraceEvents', 'many', 'retentionLimits.maxTraceEvents'],
    ['maxTerminalSubagentTasks', Number.NaN, 'retentionLimits.maxTerminalSubagentTasks'],
    ['maxWishes', 3, 'retentionLimits.maxWishes'],
  ])('refuses %s of %j by its field', async (name, value, field) => {
    const { runtime, agent } = await start();
    const retentionLimits = { [name]: value } as never;
    await expect(agent.sessions.create({ sessionId: 'bad', retentionLimits })).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_SESSION_CONFIGURATION') && error.data['field'] === field,
    );
    expect(() => runtime.agent({ id: 'other', model: answers, retentionLimits })).toThrow(
      expect.objectContaining({
        code: 'PERDURE_CONFIGURATION',
        data: expect.objectContaining({ field: `agent.${field}` }),
      }),
    );
    await runtime.dispose();
  });
});
