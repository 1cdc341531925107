import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

/** More than any store takes in one append. */
const MANY = 300;

async function sessionWith(script: Script, tools = { lookup: lookupTool() }) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const agent = runtime.agent({
    id: 'a',
    model: new ScriptedModel(script),
    models: { m: new ScriptedModel([]) },
    tools,
  });
  const session = await agent.sessions.create({ sessionId: 's' });
  return { runtime, agent, session };
}

describe('more facts than a store takes at once', () => {
  test.each(['read', 'once'] as const)(
    'an answer with hundreds of calls that are %s runs all of them',
    async (effect) => {
      const runs: string[] = [];
      const calls = Array.from({ length: MANY }, (_, n) => ({
        name: n % 10 === 9 ? 'none' : 'lookup',
        input: { key: String(n) },
      }));
      const script: Script = { rules: [{ when: { toolResults: 0 }, answer: { calls } }, { answer: { text: 'done' } }] };
      const { runtime, agent, session } = await sessionWith(script, { lookup: lookupTool(runs, effect) });
      expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
      expect(runs).toHaveLength(MANY * 0.9);
      expect((await agent.replay('s')).difference).toBeUndefined();
      await runtime.dispose();
    },
  );

  test('hundreds of changes are applied, with and without a turn', async () => {
    const { runtime, session } = await sessionWith([{ text: 'one', delayMs: 50 }]);
    const turn = await session.prompt('go');
    const during = await Promise.all(Array.from({ length: MANY }, () => session.set({ model: 'm' })));
    await turn.finished;
    const after = await Promise.all(Array.from({ length: MANY }, () => session.set({ model: 'default' })));
    const outcomes = await Promise.all([...during, ...after].map(({ finished }) => finished));
    expect(outcomes.filter(({ success }) => !success)).toEqual([]);
    await runtime.dispose();
  });

  test('a stop takes back hundreds of prompts', async () => {
    const { runtime, session } = await sessionWith([{ text: 'never', delayMs: 60_000 }]);
    const running = await session.prompt('go');
    const queued = await Promise.all(
      Array.from({ length: MANY }, (_, n) => session.prompt({ query: `wait ${n}`, whenBusy: 'queue' })),
    );
    expect(await session.stop('enough')).toEqual({ stopped: true, turnId: running.id });
    const results = await Promise.all([running, ...queued].map(({ finished }) => finished));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['cancelled']));
    expect((await session.info()).turn).toBeNull();
    await runtime.dispose();
  });
});
