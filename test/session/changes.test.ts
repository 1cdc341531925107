import { describe, expect, test } from 'vitest';
import { keyText } from '@perdure/events';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, SYSTEM_BLOCKS, TOOLS, type Plugin } from '@perdure/plugin-api';
import { MemoryEventStore, storeMemory } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const speaker = (name: string, content: string): Plugin =>
  definePlugin({
    name,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [SYSTEM_BLOCKS, TOOLS],
    setup: ({ provide }) => {
      provide(SYSTEM_BLOCKS, { name, blocks: () => [{ name: 'words', content }] });
      provide(TOOLS, { name, tools: () => ({ [`${name}-tool`]: lookupTool() }) });
      return {};
    },
  });

describe('changes of a session', () => {
  test('of its model take effect at the next step, at once when idle; an unknown one is refused by name', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const models = { first: new ScriptedModel([{ text: 'one' }]), second: new ScriptedModel([{ text: 'two' }]) };
    const agent = runtime.agent({ id: 'clerk', model: 'first', models });
    const session = await agent.sessions.create();
    expect((await session.send('a')).text).toBe('one');
    expect(await (await session.set({ model: 'second' })).finished).toEqual({ success: true });
    expect((await session.send('b')).text).toBe('two');
    const unknown = await (await session.set({ model: 'third' })).finished;
    expect(unknown).toMatchObject({ success: false, error: { code: 'PERDURE_MODEL_UNKNOWN' } });
    expect((await session.info()).model).toBe('second');
    await runtime.dispose();
  });

  test('of its system: it follows the agent, can be frozen, and made anew', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([]), instruction: ['One.', 'Two.'] });
    const session = await agent.sessions.create();
    const contents = async () =>
      (await session.system()).flatMap(({ source, content }) =>
        source === 'instruction' || source === 'plugin' ? [content] : [],
      );
    await agent.addPlugin(speaker('plug', 'Three.'));
    expect(await contents()).toEqual(['One.', 'Two.', 'Three.']);
    await (
      await session.snapshot()
    ).finished;
    await agent.removePlugin('plug');
    expect(await contents()).toEqual(['One.', 'Two.', 'Three.']);
    await (
      await session.syncshot()
    ).finished;
    expect(await contents()).toEqual(['One.', 'Two.']);
    await runtime.dispose();
  });

  test('a running step keeps the tools it began with, and the next step has the new ones', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const names: string[][] = [];
    const add = { ...lookupTool(), execute: async () => (await agent.addPlugin(speaker('plug', 'More.')), 'added') };
    const model = new ScriptedModel((request) => {
      if (request.toolResultsSince.length === 0) return { calls: [{ name: 'add', input: { key: 'x' } }] };
      return { text: 'done' };
    });
    const agent = runtime.agent({ id: 'clerk', model, tools: { add } });
    const session = await agent.sessions.create();
    expect((await session.send('go')).text).toBe('done');
    for (const { tools = [] } of model.calls) names.push(tools.map(({ name }) => name));
    expect(names).toEqual([['add'], ['add', 'plug-tool']]);
    await runtime.dispose();
  });

  test('compaction shows models a summary in the place of what is old, and the transcript stays whole', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const model = new ScriptedModel((request) =>
      request.lastUserText.startsWith('Summarise')
        ? { text: 'they counted' }
        : { text: `seen ${request.messages.length}` },
    );
    const agent = runtime.agent({ id: 'clerk', model });
    const session = await agent.sessions.create({ sessionId: 's' });
    for (let turn = 0; turn < 5; turn++) await session.send(`turn ${turn}`);
    expect(await (await session.compact()).finished).toEqual({ success: true });
    // The system prompt, the summary, an answer, the last turn and the prompt.
    expect((await session.send('and now')).text).toBe('seen 6');
    expect((await session.messages()).total).toBe(12);
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain('they counted');
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('of labels by a caller are kept, and a save writes the whole session at once [A1]', async () => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'hi' }]) });
    const session = await agent.sessions.create({ sessionId: 's', tenantId: 'acme', correlationId: 'c-1' });
    await session.send('hello');
    await session.save();
    const snapshot = await runtime.services.snapshots?.load(keyText({ id: 's' }));
    expect(snapshot?.session).toMatchObject({ id: 's', tenant_id: 'acme', state: 'Completed', messages: [{}, {}] });
    expect(snapshot?.run_records).toMatchObject([{ status: 'completed', prompt: 'hello', result_text: 'hi' }]);
    const again = await agent.sessions.get('s', { principal: 'me', correlationId: 'c-2' });
    expect([again.tenantId, again.principal, again.correlationId, again.agentTemplateId]).toEqual([
      'acme',
      'me',
      'c-2',
      null,
    ]);
    await runtime.dispose();
  });
});
