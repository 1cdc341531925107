import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { restoreStream, verifySession } from '@perdure/core';
import type { EventStore, Plugin, ProjectionStore, Session } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const call = (name: string, key: string) => ({ name, input: { key } });
const working: Script = {
  rules: [
    { when: { userTextContains: 'look', toolResults: 0 }, answer: { text: 'I look', calls: [call('look', 'a')] } },
    { answer: { text: 'well', deltas: 2 } },
  ],
};

interface Place {
  readonly store: EventStore;
  readonly projections: ProjectionStore;
}
const place = (): Place => ({ store: new MemoryEventStore(), projections: new MemoryProjectionStore() });

async function node(
  { store, projections }: Place,
  governance: Plugin = allowing,
  script = working,
  execute?: () => unknown,
) {
  const calls: string[] = [];
  const model = new ScriptedModel(script);
  const runtime = await createTestRuntime({ plugins: [storesWith(store, projections), governance], leaseTtlMs: 300 });
  const look = lookupTool(calls, 'once');
  const tools = { look: execute === undefined ? look : { ...look, execute } };
  const agent = runtime.agent({ id: 'clerk', model, models: { other: model }, tools, workspace: '/srv/work' });
  await agent.ready();
  return { runtime, agent, calls, model };
}

const texts = async (session: Session): Promise<string[]> =>
  (await session.messages()).items.map(
    ({ role, parts }) => `${role}: ${parts.map((part) => ('text' in part ? part.text : part.type)).join(' ')}`,
  );
const types = async ({ store }: Place, id: string) =>
  (await store.read(`session-_.${id}`)).facts.map(({ type }) => type);

describe('a fork', () => {
  test('goes on from where the other one is, and neither sees what the other does', async () => {
    const at = place();
    const { runtime, agent, model } = await node(at);
    const session = await agent.sessions.create({ sessionId: 's', principal: 'ada' });
    await session.send('look');
    const before = await texts(session);

    const fork = await agent.sessions.fork('s', { sessionId: 'f', correlationId: 'c-1' });
    expect(await texts(fork)).toEqual(before);
    expect(await fork.info()).toMatchObject({
      forkedFrom: { session: 's' },
      workspace: '/srv/work',
      usage: { totalTokens: 0 },
      turn: null,
      owner: null,
    });
    expect(fork).toMatchObject({ principal: 'ada', correlationId: 'c-1' });
    expect(await types(at, 'f')).toEqual(['SessionForked']);

    await fork.send('in the fork');
    await session.send('in the first');
    expect(await texts(fork)).toEqual([...before, 'user: in the fork', 'assistant: well']);
    expect(await texts(session)).toEqual([...before, 'user: in the first', 'assistant: well']);
    // Its model was shown the whole conversation.
    const prompts = model.calls.map(({ prompt }) => JSON.stringify(prompt));
    expect(prompts.some((prompt) => prompt.includes('in the fork') && prompt.includes('I look'))).toBe(true);
    for (const id of ['s', 'f']) {
      expect((await agent.replay(id)).difference).toBeUndefined();
      await verifySession(at.store, { id });
    }
    expect((await fork.messages()).items.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    await runtime.dispose();
  });

  test('folds to the same from its stream alone, with and without state snapshots', async () => {
    const at = place();
    const first = await node(at);
    const session = await first.agent.sessions.create({ sessionId: 's' });
    await session.send('look');
    const fork = await first.agent.sessions.fork('s', { sessionId: 'f' });
    await fork.send('one');
    const again = await first.agent.sessions.fork('f', { sessionId: 'g' });
    await again.send('two');
    const said = await texts(again);
    expect(said.slice(-4)).toEqual(['user: one', 'assistant: well', 'user: two', 'assistant: well']);
    await session.send('look elsewhere');
    await first.runtime.dispose();
    for (const projections of [at.projections, new MemoryProjectionStore()]) {
      const other = await node({ ...at, projections });
      expect(await texts(await other.agent.sessions.get('g'))).toEqual(said);
      expect((await other.agent.replay('g')).difference).toBeUndefined();
      await other.runtime.dispose();
    }
  });

  test('in the middle of a call goes on behind the last step, and the call is not its', async () => {
    const at = place();
    let finish: () => void = () => undefined;
    const slow = (): Promise<string> => new Promise((resolve) => (finish = () => resolve('slow')));
    const { runtime, agent } = await node(at, allowing, working, slow);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('hello');
    const before = await texts(session);
    const turn = await session.prompt('look');
    await waitUntil(async () => (await types(at, 's')).includes('ToolCallStarted'));
    await session.prompt('steered');
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    expect(await texts(fork)).toEqual(before);
    expect(await fork.info()).toMatchObject({ turn: null });
    expect(await fork.activeTools()).toEqual([]);
    expect((await fork.send('and you?')).text).toBe('well');
    finish();
    expect((await turn.finished).success).toBe(true);
    await runtime.dispose();
  });

  test('in the middle of an approval does not inherit it', async () => {
    const at = place();
    const { runtime, agent } = await node(
      at,
      governedBy(() => ({ decision: 'ask' }), {}),
    );
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.prompt('look');
    await waitUntil(async () => (await session.interactions()).length === 1);
    const fork = await agent.sessions.fork('s');
    expect(await fork.interactions()).toEqual([]);
    expect((await fork.send('hello')).text).toBe('well');
    expect(await session.interactions()).toHaveLength(1);
    await session.stop();
    await runtime.dispose();
  });

  test('at an earlier place has what was there, and the model of then', async () => {
    const at = place();
    const { runtime, agent } = await node(at);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('one');
    const { revision } = await session.info();
    await (
      await session.set({ model: 'other' })
    ).finished;
    await session.send('two');
    const fork = await agent.sessions.fork('s', { at: revision });
    expect(await texts(fork)).toEqual(['user: one', 'assistant: well']);
    expect((await fork.info()).model).toBeNull();
    expect((await (await agent.sessions.fork('s')).info()).model).toBe('other');
    expect((await (await agent.sessions.fork('s', { model: 'other', at: 0 })).info()).model).toBe('other');
    for (const wrong of [-1, 1.5, 10_000, Number.NaN]) {
      await expect(agent.sessions.fork('s', { at: wrong })).rejects.toMatchObject({ data: { field: 'at' } });
    }
    await expect(agent.sessions.fork('s', { sessionId: 's' })).rejects.toMatchObject({
      code: 'PERDURE_SESSION_EXISTS',
    });
    await expect(agent.sessions.fork('none')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_FOUND' });
    await runtime.dispose();
  });

  test('is broken when what it goes on from is not what it was made of', async () => {
    const at = place();
    const { runtime, agent } = await node(at);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('one');
    await agent.sessions.fork('s', { sessionId: 'f' });
    await runtime.dispose();
    const { facts } = await at.store.read('session-_.f');
    const other = place();
    const second = await node(other);
    await (await second.agent.sessions.create({ sessionId: 's' })).send('another one');
    await other.store.append(
      'session-_.f',
      facts.map(({ id, type, payload, metadata }) => ({ id, type, payload, metadata })),
      { expected: 'none' },
    );
    await expect(second.agent.sessions.get('f')).rejects.toMatchObject({
      code: 'PERDURE_CHAIN_BROKEN',
      data: { stream: 'session-_.f', revision: 0 },
    });
    await second.runtime.dispose();
  });
});

test('a fork without what it goes on from is neither restored, nor verified, nor opened', async () => {
  const at = place();
  const { runtime, agent } = await node(at);
  await (await agent.sessions.create({ sessionId: 's' })).send('one');
  await (await agent.sessions.fork('s', { sessionId: 'f' })).send('two');
  await runtime.dispose();
  const facts = async (id: string) => (await at.store.read(`session-_.${id}`)).facts;
  const exported = async (id: string) => {
    const recorded = await facts(id);
    const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(recorded.at(-1)?.metadata ?? '')?.[1] ?? '';
    const read = async function* () {
      yield* recorded;
    };
    return { revision: recorded.length - 1, hash, facts: read };
  };
  const store = new MemoryEventStore();
  const { from } = JSON.parse((await facts('f'))[0]?.payload ?? '') as { from: { revision: number } };
  const data = { session: 'f', origin: 's', revision: from.revision };
  const missing = { code: 'PERDURE_FORK_ORIGIN_MISSING', data };
  await expect(restoreStream(store, { id: 'f' }, await exported('f'))).rejects.toMatchObject(missing);
  expect((await store.read('session-_.f')).facts).toEqual([]);
  const copy = (await facts('f')).map(({ id, type, payload, metadata }) => ({ id, type, payload, metadata }));
  await store.append('session-_.f', copy, { expected: 'none' });
  await expect(verifySession(store, { id: 'f' })).rejects.toMatchObject(missing);
  const other = await node({ store, projections: new MemoryProjectionStore() });
  await expect(other.agent.sessions.get('f')).rejects.toMatchObject(missing);
  await other.runtime.dispose();
  await restoreStream(store, { id: 's' }, await exported('s'));
  await verifySession(store, { id: 'f' });
  const whole = await node({ store, projections: new MemoryProjectionStore() });
  expect((await texts(await whole.agent.sessions.get('f'))).slice(-2)).toEqual(['user: two', 'assistant: well']);
  await whole.runtime.dispose();
});

describe('a session as of a revision', () => {
  test('shows what was known then, and nothing of what came behind', async () => {
    const at = place();
    const { runtime, agent } = await node(
      at,
      governedBy(() => ({ decision: 'ask' }), {}),
    );
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('look');
    await waitUntil(async () => (await session.interactions()).length === 1);
    const then = await session.info();
    const asked = await session.interactions();
    await session.respond({ id: asked[0]?.id ?? '', decision: 'allow', by: 'ada' });
    await turn.finished;
    const view = await session.at(then.revision);
    expect(view).toMatchObject({ revision: then.revision, hash: then.hash });
    expect(view.info()).toEqual(then);
    expect(view.interactions()).toEqual(asked);
    expect(view.messages().items.at(-1)).toMatchObject({ role: 'assistant' });
    expect((await session.at(0)).messages().items).toEqual([]);
    await expect(session.at(10_000)).rejects.toMatchObject({ data: { field: 'revision' } });
    await runtime.dispose();
  });
});
