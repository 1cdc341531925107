import { describe, expect, test } from 'vitest';
import { createTestRuntime, encodeFacts, type TestFact } from '@perdure/core/testing';
import { isPerdureError } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

const stream = 'session-_.s';

/** A session with one turn behind it and one more fact that somebody appended. */
async function sessionWith(fact: TestFact) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId: 'a' } });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'one' }, { text: 'two' }]) });
  const session = await agent.sessions.create({ sessionId: 's' });
  await session.send('first');
  await session.close();
  const page = await store.read(stream);
  const prevHash = /"hash":"([0-9a-f]{64})"\}$/.exec(page.facts.at(-1)?.metadata ?? '')?.[1];
  await store.append(stream, encodeFacts('s', [fact], prevHash), { expected: page.head });
  return { store, runtime, agent };
}

describe('a fact that this build does not know [P6]', () => {
  test('of a plugin is kept whole and shown, and the session runs on', async () => {
    const payload = { note: 'from a plugin', nested: { deep: [1, 2] } };
    const { store, runtime, agent } = await sessionWith({ type: 'stranger/Passed', payload, version: 7 });
    const session = await agent.sessions.get('s');
    expect((await agent.sessions.list()).items).toHaveLength(1);
    expect(await session.send('second')).toMatchObject({ success: true, text: 'two' });
    const shown = [];
    for await (const event of session.events()) {
      shown.push(event);
      if (event.type === 'agent_end' && shown.some(({ type }) => type === 'stranger/Passed')) break;
    }
    expect(shown.find(({ type }) => type === 'stranger/Passed')?.payload).toEqual(payload);
    const stored = (await store.read(stream)).facts.find(({ type }) => type === 'stranger/Passed');
    expect(JSON.parse(stored?.payload ?? '')).toEqual(payload);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test.each<[string, TestFact]>([
    ['of the core', { type: 'SomethingInvented', payload: { a: 1 } }],
    ['of the core in a newer version', { type: 'PromptAccepted', payload: { other: 'shape' }, version: 2 }],
    ['of a plugin that says it is essential', { type: 'stranger/Locked', payload: {}, essential: true }],
  ])('%s lets the session be read and not run', async (_, fact) => {
    const { store, runtime, agent } = await sessionWith(fact);
    const before = await store.read(stream);
    const session = await agent.sessions.get('s');
    expect(await session.info()).toMatchObject({ readOnly: { type: fact.type, revision: before.head } });
    expect((await session.messages()).total).toBe(2);
    expect((await agent.sessions.list()).items).toHaveLength(1);
    const newer = (error: unknown) => isPerdureError(error, 'PERDURE_FACT_NEWER') && error.data['type'] === fact.type;
    await expect(session.prompt('second')).rejects.toSatisfy(newer);
    await expect(session.send('second')).rejects.toSatisfy(newer);
    await expect(session.set({ model: 'x' })).rejects.toSatisfy(newer);
    await expect(session.tool('x', {})).rejects.toSatisfy(newer);
    await session.close();
    expect(await store.read(stream)).toEqual(before);
    await runtime.dispose();
  });

  test('that an owner meets in the tail stops it before it appends anything more', async () => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const model = new ScriptedModel([{ text: 'a long answer', deltas: 8, deltaDelayMs: 40 }]);
    const agent = runtime.agent({ id: 'clerk', model });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    for await (const event of session.events()) if (event.type === 'text_delta') break;
    const page = await store.read(stream);
    const prevHash = /"hash":"([0-9a-f]{64})"\}$/.exec(page.facts.at(-1)?.metadata ?? '')?.[1];
    await store.append(stream, encodeFacts('s', [{ type: 'Invented', payload: {} }], prevHash), {
      expected: page.head,
    });
    const result = await turn.finished;
    expect(result).toMatchObject({ status: 'suspended', error: { code: 'PERDURE_FACT_NEWER' } });
    expect((await store.read(stream)).facts.at(-1)?.type).toBe('Invented');
    await runtime.dispose();
  });
});
