import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { sessionStream } from '@perdure/events';
import type { LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

const PROMPTS = 12;

test('whoever asks, one loop runs, and takes prompts and changes in the order of one queue [R8] [R9]', async () => {
  const store = new MemoryEventStore();
  const open = async (nodeId: string) => {
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
    onTestFinished(() => runtime.dispose());
    const agent = runtime.agent({ id: 'clerk', model: 'first', models: { first: counted(), second: counted() } });
    await agent.ready();
    return agent;
  };
  const busy = { now: 0, most: 0 };
  const answered: string[] = [];
  const counted = (): LanguageModel => {
    const inner = new ScriptedModel(({ lastUserText }) => {
      answered.push(lastUserText);
      return { text: 'well', deltas: 3, deltaDelayMs: 1 };
    });
    return {
      specificationVersion: 'v3',
      provider: 'counted',
      modelId: 'counted',
      doGenerate: (options) => inner.doGenerate(options),
      doStream: async (options) => {
        busy.most = Math.max(busy.most, ++busy.now);
        const { stream, ...rest } = await inner.doStream(options);
        const counting = new TransformStream({ flush: () => void (busy.now -= 1) });
        return { ...rest, stream: stream.pipeThrough(counting) };
      },
    };
  };
  const [here, there] = [await open('a'), await open('b')];
  const session = await here.sessions.create({ sessionId: 's' });
  const other = await there.sessions.get('s');
  const asked = Array.from({ length: PROMPTS }, (_, index) => {
    const handle = index % 3 === 2 ? other : session;
    const changed = handle.set({ model: index % 2 === 0 ? 'second' : 'first' });
    return Promise.all([handle.prompt({ query: `prompt ${index}`, whenBusy: 'queue' }), changed]);
  });
  for (const [turn, change] of await Promise.all(asked)) {
    expect((await turn.finished).success).toBe(true);
    expect(await change.finished).toEqual({ success: true });
  }
  expect(busy).toEqual({ now: 0, most: 1 });
  const { facts } = await store.read(sessionStream({ id: 's' }), { limit: 1_000 });
  const members = (type: string, member: string): readonly unknown[] =>
    facts.filter((fact) => fact.type === type).map(({ payload }) => (JSON.parse(payload) as never)[member]);
  expect(answered).toHaveLength(PROMPTS);
  expect(members('PromptAccepted', 'parts')).toEqual(answered.map((text) => [{ type: 'text', text }]));
  expect(members('ChangeApplied', 'changeId')).toEqual(members('ChangeRequested', 'changeId'));
});
