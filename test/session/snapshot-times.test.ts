import { expect, test } from 'vitest';
import { createTestRuntime, encodeFacts } from '@perdure/core/testing';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const stream = 'session-_.s';

/** A session with thousands of facts and no state snapshot. */
async function longSession(): Promise<MemoryEventStore> {
  const store = new MemoryEventStore();
  const relabeled = Array.from({ length: 2_500 }, (_, n) => ({
    type: 'SessionRelabeled',
    payload: { labels: { correlationId: String(n) } },
  }));
  const created = { type: 'SessionCreated', payload: { agentId: 'a', labels: {} } };
  const facts = encodeFacts('s', [created, ...relabeled]);
  for (let at = 0; at < facts.length; at += 250) {
    await store.append(stream, facts.slice(at, at + 250), { expected: at === 0 ? 'none' : at - 1 });
  }
  return store;
}

test('a session loaded without a state snapshot asks its model first, and has one when the turn ends', async () => {
  const order: string[] = [];
  const projections = new MemoryProjectionStore();
  const commit = projections.commit.bind(projections);
  projections.commit = (projection, change) => {
    if (projection.startsWith('state:')) order.push('snapshot');
    return commit(projection, change);
  };
  const model = new ScriptedModel({
    rules: [
      { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'k' } }] } },
      { when: { toolResults: 1 }, answer: { text: 'done' } },
    ],
  });
  const lookup = lookupTool();
  const tools = {
    lookup: {
      ...lookup,
      execute: async (input: { key: string }) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push('tool');
        return lookup.execute(input);
      },
    },
  };
  const runtime = await createTestRuntime({ plugins: [storesWith(await longSession(), projections), allowing] });
  const agent = runtime.agent({ id: 'a', model, tools });
  await agent.ready();
  const session = agent.session('', { sessionId: 's' });
  expect(await session.send('Hello.')).toMatchObject({ status: 'completed', text: 'done' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(order).toEqual(['tool', 'snapshot']);
  await runtime.dispose();
});
