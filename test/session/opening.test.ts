import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { ReadOptions } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

const EXISTS = expect.objectContaining({ code: 'PERDURE_SESSION_EXISTS' }) as unknown;

/** Counts how often a stream is loaded: from its beginning, or from its end when all of it may be in one page. */
class CountingStore extends MemoryEventStore {
  loads = 0;

  override read(stream: string, options: ReadOptions = {}) {
    const isLoad = options.from === 0 || options.direction === 'backwards';
    if (stream.startsWith('session-') && isLoad) this.loads += 1;
    return super.read(stream, options);
  }
}

async function node(store = new CountingStore()) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  onTestFinished(() => runtime.dispose());
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'well' }, { text: 'again' }]) });
  await agent.ready();
  return { store, agent };
}

test('however many ask for a session at once, it is opened once and all have one handle', async () => {
  const { store, agent } = await node();
  await (await agent.sessions.create({ sessionId: 's' })).close();
  store.loads = 0;
  const handles = await Promise.all(Array.from({ length: 50 }, () => agent.sessions.get('s')));
  expect(new Set(handles).size).toBe(1);
  expect(store.loads).toBe(1);
});

test('of many that make the same session at once, one does', async () => {
  const { agent } = await node();
  const made = await Promise.allSettled(Array.from({ length: 20 }, () => agent.sessions.create({ sessionId: 's' })));
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(refused).toEqual(Array.from({ length: 19 }, () => EXISTS));
  expect((await (await agent.sessions.get('s')).send('hello')).text).toBe('well');
});

test('who looks for a session in vain hinders nobody who makes it at the same moment', async () => {
  const { agent } = await node();
  const outcomes = await Promise.allSettled([
    agent.sessions.get('s'),
    agent.sessions.create({ sessionId: 's' }),
    agent.sessions.get('s'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect((await (await agent.sessions.get('s')).send('hello')).text).toBe('well');
});

test('a session is not built twice in a process, and may be again when it was let go', async () => {
  const { agent } = await node();
  const session = agent.session('', { sessionId: 's' });
  expect(() => agent.session('', { sessionId: 's' })).toThrow(EXISTS as Error);
  await expect(agent.sessions.create({ sessionId: 's' })).rejects.toEqual(EXISTS);
  // It has no fact, and whoever has its handle keeps it.
  await expect(agent.sessions.get('s')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_FOUND' });
  await session.send('hello');
  expect(await agent.sessions.get('s')).toBe(session);
  await session.close();
  await expect(agent.sessions.create({ sessionId: 's' })).rejects.toEqual(EXISTS);
  expect((await agent.session('', { sessionId: 's' }).send('more')).text).toBe('again');
});

test('of two runtimes on one store that make the same sessions at once, one makes each', async () => {
  const { store, agent } = await node();
  const other = await node(store);
  const ids = Array.from({ length: 30 }, (_, index) => `s-${index}`);
  const made = await Promise.all(
    [agent, other.agent].map(({ sessions }) =>
      Promise.allSettled(ids.map((sessionId) => sessions.create({ sessionId }))),
    ),
  );
  for (const index of ids.keys()) {
    const statuses = made.map((outcomes) => outcomes[index]?.status);
    expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(1);
  }
  const refused = made.flat().flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(refused).toEqual(ids.map(() => EXISTS));
});
