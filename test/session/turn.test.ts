import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AppendResult, EventStore } from '@perdure/plugin-api';
import { MemoryEventStore, storeMemory } from '@perdure/store-memory';
import { deterministicHostEnv, scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const call = (key: string) => ({ name: 'lookup', input: { key } });

describe('a turn', () => {
  test('goes from a prompt over calls to an answer, each fact in its place', async () => {
    const calls: string[] = [];
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing], env: deterministicHostEnv() });
    const script = scriptByRound([{ calls: [call('a')] }, { text: 'it is so', deltas: 4 }]);
    const agent = runtime.agent({
      id: 'clerk',
      model: new ScriptedModel(script),
      tools: { lookup: lookupTool(calls) },
    });
    const session = await agent.sessions.create({ sessionId: 's' });
    const result = await session.send('look it up');
    expect(result).toMatchObject({ success: true, status: 'completed', text: 'it is so' });
    expect(calls).toEqual(['a']);
    const page = await runtime.services.store.read('session-_.s');
    expect(page.facts.map(({ type }) => type)).toEqual([
      'SessionCreated',
      'PromptAccepted',
      'OwnershipTaken',
      'PluginSetChanged',
      'RunStarted',
      'StepStarted',
      'ModelAnswered',
      'ToolCallDecided',
      'ToolCallStarted',
      'ToolCallSettled',
      'StepCheckpointed',
      'StepStarted',
      'ModelAnswered',
      'StepCheckpointed',
      'RunEnded',
    ]);
    const replayed = await agent.replay('s');
    expect(replayed.difference).toBeUndefined();
    expect(replayed.derived).toBe(8);
    await runtime.dispose();
  });

  test('costs two commits for a step with one call, whatever the length of the session [P11]', async () => {
    const batches: string[] = [];
    const store = counting(new MemoryEventStore(), batches);
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const script = scriptByRound([
      ...Array.from({ length: 20 }, (_, i) => ({ calls: [call(String(i))] })),
      { text: 'done' },
    ]);
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools: { lookup: lookupTool() } });
    const session = await agent.sessions.create({ sessionId: 's' });
    batches.length = 0;
    await session.send('go');
    const rounds = batches.filter((types) => types.includes('ToolCallStarted') || types.includes('ToolCallSettled'));
    expect(rounds).toHaveLength(40);
    expect(rounds[4]).toBe('ModelAnswered ToolCallDecided ToolCallStarted');
    expect(rounds[5]).toBe('ToolCallSettled StepCheckpointed StepStarted');
    const { facts } = await store.read('session-_.s');
    const sizes = facts.filter(({ type }) => type === 'StepStarted').map(({ payload }) => payload.length);
    // A step says where its history is and how much of it there is; the history itself is in no fact twice.
    expect(Math.max(...sizes.slice(2)) - Math.min(...sizes.slice(2))).toBeLessThan(10);
    await runtime.dispose();
  });
});

function counting(store: EventStore, batches: string[]): EventStore {
  return {
    name: store.name,
    capabilities: store.capabilities,
    limits: store.limits,
    append: (stream, facts, options): Promise<AppendResult> => {
      if (stream.startsWith('session-')) batches.push(facts.map(({ type }) => type).join(' '));
      return store.append(stream, facts, options);
    },
    read: (stream, options) => store.read(stream, options),
    subscribe: (source, options) => store.subscribe(source, options),
    truncate: (stream, before) => store.truncate(stream, before),
    close: () => store.close(),
  };
}
