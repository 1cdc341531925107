import { describe, expect, test } from 'vitest';
import { createTestRuntime, encodeFacts } from '@perdure/core/testing';
import { isPerdureError, type LanguageModel, type Tools } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

async function start(model: LanguageModel, tools: Tools = { lookup: lookupTool() }, store = new MemoryEventStore()) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const agent = runtime.agent({ id: 'clerk', model, tools });
  const session = await agent.sessions.create({ sessionId: 's' }).catch(() => agent.sessions.get('s'));
  return { runtime, store, session };
}

const stubborn = (effect: 'read' | 'once'): Tools => ({
  wait: {
    inputSchema: { type: 'object', properties: {} },
    effect,
    // It hears nothing of its end.
    execute: () => new Promise<string>(() => undefined),
  },
});

const script = [
  { calls: [{ name: 'lookup', input: { key: 'a' } }] },
  { text: 'the first answer' },
  { error: { status: 400, message: 'no' } },
  { text: 'the last' },
];

describe('the records of runs', () => {
  test('tell of each run what the stream says, and the same after a restart', async () => {
    const { runtime, store, session } = await start(new ScriptedModel(script));
    await session.send('one');
    await session.send('two');
    await session.send('three');
    const runs = await session.runs();
    expect(runs).toMatchObject([
      { sessionId: 's', status: 'completed', prompt: 'one', resultText: 'the first answer' },
      { status: 'failed', prompt: 'two', error: { code: 'PERDURE_MODEL_REQUEST' } },
      { status: 'completed', prompt: 'three', resultText: 'the last' },
    ]);
    for (const run of runs) {
      expect(run.updatedAt).toBeGreaterThanOrEqual(run.createdAt);
      expect(await session.runSnapshot(run.id)).toEqual(run);
      const events = await session.runEvents(run.id);
      expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: run.eventCount }, (_, at) => at));
      expect([events[0]?.fact, events.at(-1)?.fact]).toEqual(['RunStarted', 'RunEnded']);
    }
    expect(await session.runSnapshot('none')).toBeNull();
    expect(await session.runEvents('none')).toEqual([]);
    expect(await session.runEventPage('none')).toBeNull();
    const events = await session.runEvents(runs[0]?.id ?? '');
    await runtime.dispose();
    const again = await start(new ScriptedModel([]), {}, store);
    expect(await again.session.runs()).toEqual(runs);
    expect(await again.session.runEvents(runs[0]?.id ?? '')).toEqual(events);
    await again.runtime.dispose();
  });

  test('give events as readers of the session get them who come later', async () => {
    const { runtime, store, session } = await start(new ScriptedModel(script));
    const { runId } = await session.send('one');
    const [run] = await session.runs();
    await runtime.dispose();
    const later = await start(new ScriptedModel([]), {}, store);
    const read = [];
    for await (const event of later.session.events()) {
      read.push(event);
      if (event.type === 'agent_end') break;
    }
    const events = (await later.session.runEvents(runId ?? '')).flatMap((each) => each.events);
    expect(events).toEqual(read.slice(-events.length));
    expect(events[0]?.type).toBe('agent_start');
    expect(events.filter(({ type }) => type === 'text_delta')).toHaveLength(1);
    expect(run?.eventCount).toBe(new Set(events.map(({ metadata }) => metadata?.['revision'])).size);
    await later.runtime.dispose();
  });

  test('show the run that goes on and its calls, and cancel that run alone', async () => {
    const { runtime, session } = await start(
      new ScriptedModel([{ calls: [{ name: 'wait', input: {} }] }]),
      stubborn('read'),
    );
    expect(await session.currentRun()).toBeNull();
    expect(await session.activeTools()).toEqual([]);
    const turn = await session.prompt('go');
    while ((await session.activeTools()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const run = await session.currentRun();
    expect(run).toMatchObject({ status: 'executing', turnId: turn.id });
    expect(await session.activeTools()).toEqual([
      { id: expect.any(String), name: 'wait', startedAt: expect.any(Number) },
    ]);
    expect(await session.cancelRun('another')).toBe(false);
    expect((await session.currentRun())?.id).toBe(run?.id);
    expect(await session.cancelRun(run?.id ?? '')).toBe(true);
    expect((await turn.finished).status).toBe('cancelled');
    expect(await session.runSnapshot(run?.id ?? '')).toMatchObject({ status: 'cancelled' });
    expect(await session.cancelRun(run?.id ?? '')).toBe(false);
    expect(await session.currentRun()).toBeNull();
    await runtime.dispose();
  });

  test('keep the first end of a run, whatever a stream says afterwards', async () => {
    const { runtime, store, session } = await start(new ScriptedModel([{ text: 'done' }]));
    const { runId, turnId, usage } = await session.send('one');
    const before = await session.runSnapshot(runId ?? '');
    const { facts } = await store.read('session-_.s');
    const late = { runId, turnId, status: 'failed', steps: 1, usage };
    const { hash } = JSON.parse(facts.at(-1)?.metadata ?? '{}') as { hash: string };
    const fact = encodeFacts('s', [{ type: 'RunEnded', payload: late }], hash);
    await store.append('session-_.s', fact, { expected: facts.length - 1 });
    expect(await session.runSnapshot(runId ?? '')).toEqual(before);
    expect(before?.status).toBe('completed');
    await runtime.dispose();
  });

  test('name the run that was handed over and the one that went on', async () => {
    const { model } = gatedModel([]);
    const first = await start(model);
    const turn = await first.session.prompt('go');
    while ((await first.session.currentRun()) === null) await new Promise((resolve) => setTimeout(resolve, 5));
    await first.session.close();
    expect((await turn.finished).status).toBe('suspended');
    await first.runtime.dispose();
    const { runtime, session } = await start(new ScriptedModel([{ text: 'went on' }]), undefined, first.store);
    const handle = await session.resume();
    expect((await handle?.finished)?.text).toBe('went on');
    const [before, after] = await session.runs();
    expect(before).toMatchObject({ status: 'handed-over', turnId: turn.id });
    expect(after).toMatchObject({ status: 'completed', turnId: turn.id, resumedFrom: before?.id });
    await runtime.dispose();
  });
});

describe('cancelling until it is settled', () => {
  test('says that there was nothing, or that the run ended by itself', async () => {
    const { model } = gatedModel([{ text: 'never' }]);
    const { runtime, session } = await start(model);
    expect(await session.cancelAndSettle()).toEqual({ outcome: 'idle', runId: null, status: null });
    await session.prompt('go');
    while ((await session.currentRun()) === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const runId = (await session.currentRun())?.id;
    expect(await session.cancelAndSettle()).toEqual({ outcome: 'settled', runId, status: 'cancelled' });
    await runtime.dispose();
  });

  test('gives up a call that hears nothing, whose outcome is then unknown', async () => {
    const { runtime, session } = await start(
      new ScriptedModel([{ calls: [{ name: 'wait', input: {} }] }]),
      stubborn('once'),
    );
    const turn = await session.prompt('go');
    while ((await session.activeTools()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const settlement = await session.cancelAndSettle({ graceMs: 20, abortGraceMs: 30_000 });
    expect(settlement).toMatchObject({ outcome: 'aborted', status: 'cancelled' });
    expect((await turn.finished).status).toBe('cancelled');
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(results).toMatchObject([{ status: 'unknown', failure: { code: 'PERDURE_TOOL_UNKNOWN_OUTCOME' } }]);
    await runtime.dispose();
  });

  test.each([
    [{ graceMs: -1 }, 'graceMs'],
    [{ abortGraceMs: 1.5 }, 'abortGraceMs'],
  ])('refuses %j', async (options, field) => {
    const { runtime, session } = await start(new ScriptedModel([]));
    await expect(session.cancelAndSettle(options)).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_INPUT_INVALID') && error.data['field'] === field,
    );
    await runtime.dispose();
  });
});
