import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';

async function clerk() {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  return { runtime, agent: runtime.agent({ id: 'clerk', model: new ScriptedModel([]) }) };
}

const theirs = { id: 'theirs', messages: [{ role: 'user', content: 'Hello.' }] };

test.each([null, 0, '', [], 'options', true])('an import with the options %o names them', async (none) => {
  const { runtime, agent } = await clerk();
  const refused = { code: 'PERDURE_INPUT_INVALID', data: { field: 'options' } };
  await expect(agent.sessions.import(theirs, none as never)).rejects.toMatchObject(refused);
  await runtime.dispose();
});

test.each([1_001, 5_000, 100_000])(
  'a snapshot that is nested %i levels deep is refused by its field',
  async (levels) => {
    const { runtime, agent } = await clerk();
    const nested = Array.from({ length: levels }).reduce((inner: unknown, _, at) => (at % 2 ? [inner] : { inner }), 1);
    const refused = { code: 'PERDURE_SNAPSHOT_INVALID', data: { field: expect.stringMatching(/^extra\./) as unknown } };
    await expect(agent.sessions.import({ ...theirs, extra: nested })).rejects.toMatchObject(refused);
    await runtime.dispose();
  },
);
