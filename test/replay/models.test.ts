import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

const model = (): LanguageModel => new ScriptedModel(() => ({ text: 'well' }));

async function node(store: MemoryEventStore, nodeId: string, models: readonly string[]) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
  const agent = runtime.agent({
    id: 'clerk',
    model: 'first',
    models: Object.fromEntries(['first', ...models].map((name) => [name, model()])),
  });
  await agent.ready();
  return { runtime, agent };
}

test('which models a node had is an input of replays on others; what was asked for is not [P12]', async () => {
  const store = new MemoryEventStore();
  const a = await node(store, 'a', ['onlya']);
  const b = await node(store, 'b', ['onlyb']);
  const session = await a.agent.sessions.create({ sessionId: 's' });
  await session.send('hello');
  expect(await (await session.set({ model: 'onlyb' })).finished).toMatchObject({
    success: false,
    error: { code: 'PERDURE_MODEL_UNKNOWN' },
  });
  expect(await (await session.set({ model: 'onlya' })).finished).toEqual({ success: true });
  const reports = [await a.agent.replay('s'), await b.agent.replay('s')];
  for (const { difference, derived } of reports) {
    expect(difference).toBeUndefined();
    expect(derived).toBe(reports[0]?.derived);
  }
  await a.runtime.dispose();
  await b.runtime.dispose();
});
