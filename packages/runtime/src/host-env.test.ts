import { expect, test } from 'vitest';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { createRuntime, FixedClock, SequentialIdGenerator } from './index.js';

/** What a host can tell of a session that it ran with ids and a clock of its own. */
async function runOnce() {
  const env = { idGenerator: new SequentialIdGenerator('n'), clock: new FixedClock(1_000, 5), nodeId: 'node' };
  const runtime = await createRuntime({ plugins: [storeMemory], env, logger: { log: () => undefined } });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'yes' }]) });
  const session = await agent.sessions.create();
  await session.send('go');
  const told = { id: session.id, runs: await session.runs(), hash: (await session.info()).hash };
  await runtime.dispose();
  return told;
}

test('two runtimes with equal ids and clocks leave equal streams and records of runs [A6]', async () => {
  const [first, second] = [await runOnce(), await runOnce()];
  expect(second).toEqual(first);
  expect(first.id).toBe('n-session-1');
  expect(first.runs).toMatchObject([{ id: expect.stringMatching(/^n-.*-run-1$/), status: 'completed' }]);
});
