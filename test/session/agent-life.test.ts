import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  COMMANDS,
  defineHook,
  definePlugin,
  HOOKS,
  MODELS,
  SYSTEM_BLOCKS,
  TOOLS,
  type Mutation,
  type Plugin,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const saying = (text: string) => new ScriptedModel({ rules: [{ answer: { text } }] });

/** A plugin with all that one may give an agent, and what became of it. */
function whole(life: string[], started: Promise<void> = Promise.resolve()): Plugin {
  return definePlugin({
    name: 'whole',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [TOOLS, SYSTEM_BLOCKS, HOOKS, COMMANDS, MODELS],
    setup: ({ provide }) => {
      const handler = (): string => 'it was told';
      provide(TOOLS, { name: 'whole', tools: () => ({ act: lookupTool(life) }) });
      provide(SYSTEM_BLOCKS, { name: 'whole', blocks: () => [{ name: 'words', content: 'Be whole.' }] });
      provide(HOOKS, defineHook({ id: 'heard', event: 'post_response', handler: () => void life.push('heard') }));
      provide(COMMANDS, { name: 'whole', commands: [{ name: 'tell', description: 'Tells.', handler }] });
      provide(MODELS, { models: { brought: saying('brought') } });
      return {
        start: async () => {
          await started;
          life.push('started');
        },
        stop: async () => void life.push('stopped'),
      };
    },
  });
}

test("a plugin is its agent's alone, although another works in the same folder [R24]", async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'perdure-agents-'));
  onTestFinished(() => rmSync(workspace, { recursive: true }));
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  onTestFinished(() => runtime.dispose());
  const life: string[] = [];
  const own = runtime.agent({ id: 'own', model: saying('own'), workspace, plugins: [whole(life)] });
  const other = runtime.agent({ id: 'other', model: saying('other'), workspace });
  const [mine, theirs] = [await own.sessions.create(), await other.sessions.create()];
  const reach = async (session: typeof mine): Promise<readonly unknown[]> => [
    (await session.tool('act', { key: 'x' })).status,
    (await session.system()).some(({ content }) => content === 'Be whole.'),
    session.listCommands().some(({ name }) => name === 'tell'),
    (await (await session.set({ model: 'brought' })).finished).success,
    (await session.send('who')).text,
  ];
  expect(await reach(theirs)).toEqual(['denied', false, false, false, 'other']);
  expect(life).toEqual(['started']);
  expect(await reach(mine)).toEqual(['completed', true, true, true, 'brought']);
  expect(life).toEqual(['started', 'x', 'heard']);
});

test('the end of an agent unloads its plugins and lets its sessions go; others go on [R26] [R35]', async () => {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  onTestFinished(() => runtime.dispose());
  const life: string[] = [];
  const silent = new ScriptedModel([{ text: 'it says no more', deltas: 4, stallAfter: 1 }]);
  const agent = runtime.agent({ id: 'ending', model: silent, plugins: [whole(life)] });
  const other = runtime.agent({ id: 'other', model: saying('still here') });
  const stays = await other.sessions.create();
  const session = await agent.sessions.create({ sessionId: 's' });
  const turn = await session.prompt('go');
  const read = (async () => {
    for await (const event of session.events()) if (event.type === 'never') break;
  })();
  await Promise.all([agent.dispose(), agent.dispose()]);
  expect(life).toEqual(['started', 'stopped']);
  expect(await turn.finished).toMatchObject({ success: false, status: 'suspended' });
  await read;
  const last = (await store.read('session-_.s')).facts.at(-1);
  expect(JSON.parse(last?.payload ?? '')).toMatchObject({ status: 'handed-over' });
  await expect(session.info()).rejects.toMatchObject({ code: 'PERDURE_SESSION_CLOSED' });
  expect(runtime.agents.get('ending')).toBeUndefined();
  expect((await stays.send('you')).text).toBe('still here');
});

test('to wait until an agent is ready is a choice: its first use waits all the same [R34]', async () => {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  onTestFinished(() => runtime.dispose());
  const life: string[] = [];
  let open: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (open = resolve));
  const agent = runtime.agent({ id: 'slow', model: saying('well'), plugins: [whole(life, started)] });
  const answer = agent.sessions.create().then((session) => session.send('go'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(life).toEqual([]);
  open();
  expect((await answer).text).toBe('well');
  expect(life).toEqual(['started', 'heard']);
  expect(await agent.ready()).toBeUndefined();
});

test('who subscribes is told what comes from then on, and nothing of what was [R21]', async () => {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  onTestFinished(() => runtime.dispose());
  const session = await runtime.agent({ id: 'clerk', model: saying('well') }).sessions.create();
  await session.send('before');
  const told: Mutation[] = [];
  const end = session.subscribe((mutation) => told.push(mutation));
  await session.send('behind');
  const { cursor } = await session.info();
  await waitUntil(() => told.at(-1)?.cursor === cursor);
  const messages = told.flatMap((each) => (each.variant === 'message' ? [each.message] : []));
  expect(messages.map(({ sequence }) => sequence)).toEqual([3, 4]);
  expect(JSON.stringify(told)).not.toContain('before');
  end();
  const count = told.length;
  await session.send('unheard');
  expect(told).toHaveLength(count);
});
