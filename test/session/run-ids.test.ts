import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

async function ready(model: LanguageModel, store?: MemoryEventStore) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store ?? new MemoryEventStore()), allowing] });
  const agent = runtime.agent({ id: 'clerk', model });
  await agent.ready();
  return { runtime, agent, session: agent.session('', { sessionId: 's' }) };
}

const isConflict = (error: unknown): boolean => isPerdureError(error, 'PERDURE_RUN_IDENTITY_CONFLICT');

describe('a run with an id of the host', () => {
  test('is started once by 32 at the same time, and all of them have it', async () => {
    const { model, inner, release } = gatedModel([{ text: 'once' }]);
    const { runtime, session } = await ready(model);
    const starts = await Promise.all(Array.from({ length: 32 }, () => session.prompt({ query: 'go', runId: 'run-1' })));
    expect(starts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(starts.map(({ id }) => id)).size).toBe(1);
    expect(new Set(starts.map(({ promptId }) => promptId)).size).toBe(1);
    release();
    const results = await Promise.all(starts.map(({ finished }) => finished));
    expect(new Set(results.map(({ runId, text }) => `${runId}: ${text}`))).toEqual(new Set(['run-1: once']));
    expect(inner.calls).toHaveLength(1);
    expect(await session.runs()).toHaveLength(1);
    await runtime.dispose();
  });

  test('is started once by sends and streams too, and told again to who comes later', async () => {
    const { runtime, session } = await ready(new ScriptedModel([{ text: 'once' }]));
    const input = { query: 'go', runId: 'run-1' };
    const results = await Promise.all(Array.from({ length: 8 }, () => session.send(input)));
    expect(new Set(results.map(({ turnId }) => turnId)).size).toBe(1);
    const types = [];
    for await (const { type } of session.stream(input)) types.push(type);
    expect(types).toContain('agent_start');
    expect(types.at(-1)).toBe('agent_end');
    await expect(session.send({ ...input, query: 'another' })).rejects.toSatisfy(isConflict);
    await runtime.dispose();
  });

  test('is started once by two processes, and known after a restart', async () => {
    const store = new MemoryEventStore();
    const script = () => new ScriptedModel(() => ({ text: 'once' }));
    const [one, two] = await Promise.all([ready(script(), store), ready(script(), store)]);
    const starts = await Promise.all(
      [one, two, one, two].map(({ session }) => session.prompt({ query: 'go', runId: 'run-1' })),
    );
    expect(starts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(starts.map(({ id }) => id)).size).toBe(1);
    for (const { finished } of starts) expect((await finished).runId).toBe('run-1');
    await one.runtime.dispose();
    await two.runtime.dispose();
    const { runtime, session } = await ready(script(), store);
    const again = await session.prompt({ query: 'go', runId: 'run-1' });
    expect(again).toMatchObject({ id: starts[0]?.id, replayed: true });
    expect((await again.finished).text).toBe('once');
    await expect(session.prompt({ query: 'other', runId: 'run-1' })).rejects.toSatisfy(isConflict);
    const accepted = (await store.read('session-_.s')).facts.filter(({ type }) => type === 'PromptAccepted');
    expect(accepted).toHaveLength(1);
    await runtime.dispose();
  });

  test('is not that of another input, of a run that the runtime named, or of another session here', async () => {
    const { runtime, agent, session } = await ready(new ScriptedModel(() => ({ text: 'yes' })));
    const { runId } = await session.send('named by the runtime');
    await expect(session.prompt({ query: 'go', runId: runId ?? '' })).rejects.toSatisfy(isConflict);
    await session.send({ query: 'go', runId: 'run-1', promptId: 'p-1' });
    await expect(session.prompt({ query: 'stop', runId: 'run-1' })).rejects.toSatisfy(isConflict);
    await expect(session.prompt({ query: 'go', runId: 'run-2', promptId: 'p-1' })).rejects.toSatisfy(isConflict);
    const other = await agent.sessions.create({ sessionId: 'other' });
    await expect(other.prompt({ query: 'go', runId: 'run-1' })).rejects.toSatisfy(
      (error) => isConflict(error) && isPerdureError(error) && error.data['session'] === 's',
    );
    expect((await other.messages()).total).toBe(0);
    await runtime.dispose();
  });

  test('that was refused is free for another session', async () => {
    const { model, release } = gatedModel(() => ({ text: 'yes' }));
    const { runtime, agent, session } = await ready(model);
    const running = await session.prompt('go');
    const refused = session.prompt({ query: 'more', runId: 'run-1', whenBusy: 'reject' });
    await expect(refused).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_SESSION_BUSY'));
    release();
    const other = await agent.sessions.create({ sessionId: 'other' });
    expect((await other.send({ query: 'more', runId: 'run-1' })).runId).toBe('run-1');
    await running.finished;
    await runtime.dispose();
  });

  test('waits behind a turn instead of steering it, shows as created, and keeps its id when taken back', async () => {
    const { model, release } = gatedModel(() => ({ text: 'yes' }));
    const { runtime, session } = await ready(model);
    const first = await session.prompt('go');
    const second = await session.prompt({ query: 'then', runId: 'run-2' });
    const third = await session.prompt({ query: 'never', runId: 'run-3' });
    expect(second.id).not.toBe(first.id);
    expect(await session.runSnapshot('run-2')).toMatchObject({ status: 'created', eventCount: 0, prompt: 'then' });
    await third.stop();
    expect(await session.runSnapshot('run-3')).toMatchObject({ status: 'cancelled', eventCount: 0 });
    expect((await session.prompt({ query: 'never', runId: 'run-3' })).replayed).toBe(true);
    release();
    expect((await second.finished).runId).toBe('run-2');
    await runtime.dispose();
  });

  test('is compared by the prompt as it was given, although a hook replaced its text', async () => {
    const { runtime, session } = await ready(new ScriptedModel(() => ({ text: 'yes' })));
    session.registerHook('polite', 'pre_prompt', null, null, () => ({
      action: 'continue',
      modified: { prompt: 'please go' },
    }));
    const first = await session.send({ query: 'go', runId: 'run-1' });
    const again = await session.prompt({ query: 'go', runId: 'run-1' });
    expect(again).toMatchObject({ id: first.turnId, replayed: true });
    expect((await session.runSnapshot('run-1'))?.prompt).toBe('please go');
    await expect(session.prompt({ query: 'please go', runId: 'run-1' })).rejects.toSatisfy(isConflict);
    await runtime.dispose();
  });
});
