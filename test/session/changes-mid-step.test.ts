import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { RecordedFact } from '@perdure/events';
import { definePlugin, SYSTEM_BLOCKS, TOOLS, type Plugin, type ToolContext } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** A plugin with a tool and a word of the system, and what became of it. */
function speaker(name: string, content: string, life: string[] = []): Plugin {
  return definePlugin({
    name,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [SYSTEM_BLOCKS, TOOLS],
    setup: ({ provide }) => {
      provide(SYSTEM_BLOCKS, { name, blocks: () => [{ name: 'words', content }] });
      provide(TOOLS, { name, tools: () => ({ [`${name}-tool`]: lookupTool() }) });
      return { stop: async () => void life.push(`${name} stopped`) };
    },
  });
}

/** A session with a tool that waits until it is let go, and says what variables it sees. */
async function start(life: string[] = []) {
  const store = new MemoryEventStore();
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const seen: (Readonly<Record<string, string>> | undefined)[] = [];
  const wait = {
    inputSchema: z.object({ key: z.string() }),
    effect: 'read' as const,
    execute: async (_: { key: string }, { env }: ToolContext) => {
      seen.push(env);
      await gate;
      return 'waited';
    },
  };
  const script = new ScriptedModel(({ toolResultsSince, lastUserText }) => {
    if (lastUserText.startsWith('Summarise')) return { text: 'the summary' };
    if (lastUserText !== 'go') return { text: 'short' };
    if (toolResultsSince.length < 2) return { calls: [{ name: 'wait', input: { key: 'x' } }] };
    return { text: 'done' };
  });
  const other = new ScriptedModel(({ toolResultsSince, lastUserText }) => {
    if (lastUserText.startsWith('Summarise')) return { text: 'the summary' };
    if (toolResultsSince.length < 2 && lastUserText === 'go') return { calls: [{ name: 'wait', input: { key: 'y' } }] };
    return { text: 'done by the other' };
  });
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const agent = runtime.agent({
    id: 'clerk',
    model: 'first',
    models: { first: script, other },
    instruction: 'One.',
    tools: { wait },
    env: { SHARED: 'agent' },
    plugins: [speaker('old', 'Old.', life)],
  });
  const session = await agent.sessions.create({ sessionId: 's', env: { OWN: 'first' } });
  await session.send('before');
  const facts = async (): Promise<readonly RecordedFact[]> => (await store.read('session-_.s')).facts;
  return { runtime, agent, session, script, other, seen, open, facts, life };
}

const systemOf = (model: ScriptedModel, at: number): string => {
  const first = model.calls.at(at)?.prompt[0];
  return first?.role === 'system' ? String(first.content) : '';
};
const toolsOf = (model: ScriptedModel, at: number) => (model.calls.at(at)?.tools ?? []).map(({ name }) => name);

describe('changes of all kinds [P15] [R9] [R10]', () => {
  test('in the middle of a step leave it as it is, and the next step has all of them in their order', async () => {
    const { runtime, agent, session, script, other, seen, open, facts, life } = await start();
    await (
      await session.snapshot()
    ).finished;
    const turn = await session.prompt('go');
    await waitUntil(() => seen.length === 1);
    agent.setInstruction('Two.');
    const handles = [await session.set({ model: 'other' }), await session.set({ env: { OWN: 'second' } })];
    await agent.patchEnv({ SHARED: 'changed', MORE: 'yes' });
    await agent.addPlugin(speaker('new', 'New.', life));
    expect(await agent.removePlugin('old')).toBe(true);
    handles.push(await session.compact(), await session.syncshot());
    const isOver = { now: false };
    void Promise.all(handles.map(({ finished }) => finished)).then(() => (isOver.now = true));
    expect((await session.info()).model).toBeNull();
    expect([isOver.now, life]).toEqual([false, []]);
    open();
    expect((await turn.finished).text).toBe('done by the other');
    for (const { finished } of handles) expect(await finished).toEqual({ success: true });
    // The step that ran had what it began with; the one behind it has all.
    expect(toolsOf(script, 1)).toEqual(['wait', 'old-tool']);
    expect(systemOf(script, 1)).toMatch(/^One\.[^]*Old\./);
    expect(seen).toEqual([
      { SHARED: 'agent', OWN: 'first' },
      { SHARED: 'changed', OWN: 'second', MORE: 'yes' },
    ]);
    const step = other.calls.findIndex(({ tools = [] }) => tools.length > 0);
    expect(toolsOf(other, step)).toEqual(['wait', 'new-tool']);
    expect(systemOf(other, step)).toMatch(/^Two\.[^]*New\./);
    expect(systemOf(other, step)).not.toContain('Old.');
    await waitUntil(() => life.length === 1);
    expect(life).toEqual(['old stopped']);
    const asked = (await facts()).filter(({ type }) => type === 'ChangeRequested');
    const applied = (await facts()).filter(({ type }) => type === 'ChangeApplied');
    const idOf = ({ payload }: RecordedFact) => (JSON.parse(payload) as { changeId: string }).changeId;
    expect(applied.map(idOf)).toEqual(asked.map(idOf));
    await runtime.dispose();
  });

  test('end at once on a session at rest', async () => {
    const life: string[] = [];
    const { runtime, agent, session, facts } = await start(life);
    const all = [
      await session.set({ model: 'other', approvals: 'deny' }),
      await session.set({ env: { OWN: null, MINE: 'now' } }),
      await session.compact(),
      await session.snapshot(),
      await session.syncshot(),
    ];
    for (const { finished } of all) expect(await finished).toEqual({ success: true });
    await agent.setEnv({ OTHER: 'x' });
    await agent.addPlugin(speaker('new', 'New.'));
    await agent.removePlugin('old');
    expect(life).toEqual(['old stopped']);
    const stored = await facts();
    expect(stored.filter(({ type }) => type === 'ChangeApplied')).toHaveLength(
      stored.filter(({ type }) => type === 'ChangeRequested').length,
    );
    const plugins = stored.findLast(({ type }) => type === 'PluginSetChanged')?.payload ?? '';
    expect(plugins).toContain('"new"');
    expect(plugins).not.toContain('"old"');
    await runtime.dispose();
  });
});
