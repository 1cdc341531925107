import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AgentOptions, McpServerSetting, Runtime, SessionOptions } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import toolsFiles from '@perdure/tools-files';
import { allowing, lookupTool } from '../fixtures/agents.js';
import { isAlive, mcpNode, outputOf, ServerPlace } from '../fixtures/mcp.js';
import { waitUntil } from '../fixtures/wait-until.js';

let places: ServerPlace[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

function named(name: string): { readonly place: ServerPlace; readonly setting: McpServerSetting } {
  const place = new ServerPlace();
  places.push(place);
  return { place, setting: place.stdio({ name, tools: ['count'] }) };
}

const saying = (text: string) => new ScriptedModel({ rules: [{ answer: { text } }] });
const idsOf = async ({ agent }: { readonly agent: ReturnType<Runtime['agent']> }): Promise<readonly string[]> =>
  (await agent.sessions.list()).items.map(({ id }) => id);

describe('options are a patch', () => {
  test('that is read once: what is done to it later changes neither agent nor session [A9]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    onTestFinished(() => runtime.dispose());
    const tools: Record<string, ReturnType<typeof lookupTool>> = { lookup: lookupTool() };
    const models: Record<string, ScriptedModel> = { main: saying('main') };
    const instruction = ['One.'];
    const limits = { maxSteps: 3 };
    const env: Record<string, string> = { A: 'a' };
    const given: { -readonly [Key in keyof AgentOptions]: AgentOptions[Key] } = {
      id: 'clerk',
      model: 'main',
      models,
      tools,
      instruction,
      limits,
      env,
    };
    const agent = runtime.agent(given);
    const options: { -readonly [Key in keyof SessionOptions]: SessionOptions[Key] } = {
      principal: 'ada',
      model: 'main',
    };
    const session = await agent.sessions.create(options);
    delete tools['lookup'];
    tools['planted'] = lookupTool();
    models['main'] = saying('planted');
    instruction[0] = 'Planted.';
    limits.maxSteps = -1;
    env['A'] = 'planted';
    Object.assign(given, { budgetGuard: { checkBeforeLlm: () => ({ decision: 'deny' }) }, readOnly: true });
    Object.assign(options, { principal: 'eve', model: 'planted' });
    expect((await session.send('go')).text).toBe('main');
    // A change makes the agent's view anew, out of what was resolved.
    agent.setInstruction(['Two.']);
    expect((await session.tool('lookup', { key: 'x' })).status).toBe('completed');
    expect((await session.tool('planted', { key: 'x' })).failure?.code).toBe('PERDURE_TOOL_UNKNOWN');
    expect(session.principal).toBe('ada');
    expect((await session.send('go')).text).toBe('main');
    expect(JSON.stringify(await session.system())).not.toContain('Planted.');
  });

  test('whose members go before those of the agent, one by one, and an absent one changes nothing [A9]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    onTestFinished(() => runtime.dispose());
    const models = { main: saying('main'), other: saying('other') };
    const agent = runtime.agent({ id: 'clerk', model: 'main', models, workspace: '/of/the/agent' });
    const undefinedOnes = { model: undefined, workspace: undefined, principal: undefined } as never;
    const plain = await agent.sessions.create(undefinedOnes);
    expect(await plain.info()).toMatchObject({ workspace: '/of/the/agent', model: null });
    const own = await agent.sessions.create({ sessionId: 'own', workspace: '/own', model: 'other', principal: 'ada' });
    expect(await own.info()).toMatchObject({ workspace: '/own', model: 'other' });
    const again = await agent.sessions.get('own', { correlationId: 'c' });
    expect([again.principal, again.correlationId, (await again.info()).model]).toEqual(['ada', 'c', 'other']);
  });
});

describe('what a session needs and cannot have is told by its name, and no session is left', () => {
  test('for a workspace [A10]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, toolsFiles] });
    onTestFinished(() => runtime.dispose());
    const agent = runtime.agent({ id: 'clerk', model: saying('well') });
    await expect(
      agent.sessions.create({ sessionId: 's', workspace: '/there/is/no/such/folder' }),
    ).rejects.toMatchObject({
      code: 'PERDURE_SESSION_CONFIGURATION',
      data: { field: 'workspace' },
    });
    expect(await idsOf({ agent })).toEqual([]);
  });

  test.each<[string, (place: ServerPlace) => McpServerSetting, object]>([
    [
      'a server that is no program',
      () => ({ command: '/there/is/no/such/program' }),
      { code: 'PERDURE_SESSION_INITIALIZATION', data: { resource: 'mcp.bad' } },
    ],
    [
      'a server that ends at once',
      (place) => {
        writeFileSync(join(place.folder, 'ends.mjs'), 'process.exit(3)');
        return { command: process.execPath, args: [join(place.folder, 'ends.mjs')] };
      },
      { code: 'PERDURE_SESSION_INITIALIZATION', data: { resource: 'mcp.bad' } },
    ],
    [
      'a setting that is wrong',
      () => ({ url: 'file:///etc/passwd' }),
      { code: 'PERDURE_SESSION_CONFIGURATION', data: { field: 'mcp.bad.url' } },
    ],
  ])('for %s [A10]', async (_, bad, told) => {
    const good = named('good');
    await using node = await mcpNode();
    const mcp = { good: good.setting, bad: bad(good.place) };
    await expect(node.agent.sessions.create({ sessionId: 's', mcp })).rejects.toMatchObject(told);
    expect(await idsOf(node)).toEqual([]);
    await waitUntil(() => !isAlive(good.place.pid('server')));
    // The id is free, and nothing of the attempt is left in the session that takes it.
    const session = await node.agent.sessions.create({ sessionId: 's' });
    expect(await session.mcp.list()).toEqual([]);
  });

  test('for servers where nothing provides them, and for options that are none [A10]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    onTestFinished(() => runtime.dispose());
    const agent = runtime.agent({ id: 'clerk' });
    const refusal = (options: object) => agent.sessions.create(options).catch((error: unknown) => error);
    expect(await refusal({ mcp: { s: { command: 'x' } } })).toMatchObject({ data: { resource: 'mcp' } });
    expect(await refusal({ mcp: 5 })).toMatchObject({ data: { field: 'mcp' } });
    expect(await idsOf({ agent })).toEqual([]);
  });

  test('for a store: the runtime does not start, and takes no other in its place [A10] [A11]', async () => {
    const place = new ServerPlace();
    places.push(place);
    writeFileSync(join(place.folder, 'file'), '');
    const path = join(place.folder, 'file', 'perdure.db');
    const lacking = createTestRuntime({ plugins: [{ plugin: storeSqlite, config: { path } }, allowing] });
    await expect(lacking).rejects.toMatchObject({ data: { plugin: 'store-sqlite' } });
    await expect(createTestRuntime({ plugins: [allowing] })).rejects.toThrow('Nothing provides "event-store"');
  });
});

describe('a session that is built at once', () => {
  test('needs all resources to be there, and waits for none; servers of its own are always refused [A11]', async () => {
    const [global, own] = [named('global'), named('own')];
    const mcp = { own: own.setting };
    const required = (resource: string) =>
      expect.objectContaining({ code: 'PERDURE_ASYNC_BUILD_REQUIRED', data: { resource } }) as Error;
    await using node = await mcpNode({ servers: { s: global.setting } });
    const early = node.runtime.agent({ id: 'early', model: saying('well') });
    expect(() => early.session('')).toThrow(required('plugins'));
    await early.ready();
    expect(() => early.session('', { sessionId: 's', mcp })).toThrow(required('mcp'));
    expect(() => node.agent.session('', { sessionId: 's', mcp })).toThrow(required('mcp'));
    expect(own.place.log()).toEqual([]);
    // Nothing was begun: the id is free. What all sessions have was found when the runtime started.
    const session = node.agent.session('', { sessionId: 's' });
    expect(await outputOf(session, 'mcp__s__count')).toBe('global: count');
    expect((await session.mcp.list()).map(({ owner }) => owner)).toEqual(['global']);
  });

  test('has by an awaited build what it cannot have at once, also where it is looked up [A11]', async () => {
    const [own, more] = [named('own'), named('more')];
    await using node = await mcpNode();
    const session = await node.agent.sessions.create({ sessionId: 's', mcp: { own: own.setting } });
    expect(await outputOf(session, 'mcp__own__count')).toBe('own: count');
    const options = { mcp: { own: more.setting, more: more.setting } };
    expect(await node.agent.sessions.get('s', options)).toBe(session);
    // The one that it has already stays.
    expect(await outputOf(session, 'mcp__own__count')).toBe('own: count');
    expect(await outputOf(session, 'mcp__more__count')).toBe('more: count');
    await expect(node.agent.sessions.fork('s', options as never)).rejects.toMatchObject({ data: { field: 'mcp' } });
    await session.close();
    await waitUntil(() => !isAlive(own.place.pid('server')) && !isAlive(more.place.pid('server')));
  });
});
