import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, SYSTEM_BLOCKS, type ChangeHandle, type Plugin, type Session } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, storesWith } from '../fixtures/agents.js';

const speaker = (name: string, content: string): Plugin =>
  definePlugin({
    name,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [SYSTEM_BLOCKS],
    setup: ({ provide }) => {
      provide(SYSTEM_BLOCKS, { name, blocks: () => [{ name: 'words', content }] });
      return {};
    },
  });

async function start(store = new MemoryEventStore(), instruction = 'One.') {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  onTestFinished(() => runtime.dispose());
  const model = new ScriptedModel({ rules: [{ answer: { text: 'well' } }] });
  const agent = runtime.agent({ id: 'clerk', model, instruction, plugins: [speaker('plug', 'Plugged.')] });
  await agent.ready();
  return { runtime, agent, model, store };
}

const done = async (change: Promise<ChangeHandle>): Promise<void> => {
  expect(await (await change).finished).toEqual({ success: true });
};

/** What a session says that its system is, and what its next model call is given: the same. */
async function systemOf(session: Session, model: ScriptedModel): Promise<readonly string[]> {
  const blocks = await session.system();
  const text = blocks.map(({ content }) => content).join('\n\n');
  await session.send('go');
  expect(model.calls.at(-1)?.prompt[0]).toMatchObject({ role: 'system', content: text });
  expect(new Set(blocks.map(({ source }) => source))).toEqual(new Set(['instruction', 'core', 'plugin', 'session']));
  return blocks.flatMap(({ source, content }) => (source === 'core' || source === 'session' ? [] : [content]));
}

test('by default a session has what its agent is at that moment, and of itself where it stands [R15]', async () => {
  const { agent, model } = await start();
  const session = await agent.sessions.create({ sessionId: 's' });
  expect(await systemOf(session, model)).toEqual(['One.', 'Plugged.']);
  agent.setInstruction(['Two.', 'Three.']);
  await agent.addPlugin(speaker('plug', 'Plugged anew.'));
  expect(await systemOf(session, model)).toEqual(['Two.', 'Three.', 'Plugged anew.']);
  const context = (await session.system()).at(-1);
  expect(context).toMatchObject({ source: 'session', content: expect.stringContaining('Session: s') as string });
});

test('a snapshot keeps the whole of it: no change of the agent gets in, nor a restart [R16]', async () => {
  const { agent, model, store, runtime } = await start();
  const session = await agent.sessions.create({ sessionId: 's' });
  const other = await agent.sessions.create({ sessionId: 'other' });
  await done(session.snapshot());
  agent.setInstruction('Two.');
  await agent.removePlugin('plug');
  expect(await systemOf(session, model)).toEqual(['One.', 'Plugged.']);
  expect(JSON.stringify(await other.system())).not.toMatch(/One\.|Plugged\./);
  await runtime.dispose();
  const again = await start(store, 'Of another process.');
  expect(await systemOf(await again.agent.sessions.get('s'), again.model)).toEqual(['One.', 'Plugged.']);
});

test('made anew it is that of the agent as it is, in the place of what was kept, and kept again [R17]', async () => {
  const { agent, model } = await start();
  const session = await agent.sessions.create();
  await done(session.snapshot());
  agent.setInstruction('Two.');
  await done(session.syncshot());
  expect(await systemOf(session, model)).toEqual(['Two.', 'Plugged.']);
  agent.setInstruction('Three.');
  expect(await systemOf(session, model)).toEqual(['Two.', 'Plugged.']);
  // Where nothing is kept there is nothing to write over: such a session goes on to follow its agent.
  const following = await agent.sessions.create();
  await done(following.syncshot());
  agent.setInstruction('Four.');
  expect(await systemOf(following, model)).toEqual(['Four.', 'Plugged.']);
});
