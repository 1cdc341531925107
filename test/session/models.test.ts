import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing } from '../fixtures/agents.js';

const saying = (text: string) => new ScriptedModel({ rules: [{ answer: { text } }] });

async function start() {
  const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
  onTestFinished(() => runtime.dispose());
  const models = { agents: saying("the agent's"), own: saying("the session's"), other: saying('another') };
  return { runtime, models, agent: runtime.agent({ id: 'clerk', model: 'agents', models }) };
}

test("a session's own model goes before that of its agent, however it came by it [R11]", async () => {
  const { runtime, agent, models } = await start();
  const without = await agent.sessions.create();
  const made = await agent.sessions.create({ sessionId: 'made', model: 'own' });
  expect((await without.send('who')).text).toBe("the agent's");
  expect((await made.send('who')).text).toBe("the session's");
  await (
    await without.set({ model: 'own' })
  ).finished;
  expect((await without.send('who')).text).toBe("the session's");
  // Another model of the agent is nothing to a session that has its own.
  await agent.dispose();
  const later = runtime.agent({ id: 'clerk', model: 'other', models });
  expect((await (await later.sessions.get('made')).send('who')).text).toBe("the session's");
  expect((await (await later.sessions.create()).send('who')).text).toBe('another');
});

test('a model is an instance that the host gave: another name leads to no service [R12]', async () => {
  const { runtime, agent, models } = await start();
  expect(() => runtime.agent({ id: 'a', models: { gpt: 'openai/gpt-5' as never } })).toThrow(/LanguageModel/);
  for (const name of ['openai/gpt-5', 'scripted', 'toString']) {
    const made = await agent.sessions.create({ model: name });
    expect(await made.send('who')).toMatchObject({ success: false, error: { code: 'PERDURE_MODEL_UNKNOWN' } });
    const named = runtime.agent({ id: `of ${name}`, model: name, models });
    const session = await named.sessions.create();
    expect(await session.send('who')).toMatchObject({ success: false, error: { code: 'PERDURE_MODEL_UNKNOWN' } });
  }
  expect(Object.values(models).map(({ calls }) => calls.length)).toEqual([0, 0, 0]);
});
