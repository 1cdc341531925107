import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  ASKER,
  definePlugin,
  EVENT_STORE,
  GATES,
  HOOKS,
  isPerdureError,
  LOGGER,
  PERMISSION,
  PLUGIN_API,
  REDACTORS,
  TOOLS,
  type Plugin,
  type PluginLike,
} from '@perdure/plugin-api';
import { MemoryEventStore, storeMemory } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const code =
  (wanted: string, data: object = {}) =>
  (error: unknown) => {
    if (!isPerdureError(error) || error.code !== wanted) return false;
    expect(error.data).toMatchObject(data);
    return true;
  };

const plugin = (name: string, parts: Partial<Plugin> = {}): Plugin => ({
  ...definePlugin({ name, api: PLUGIN_API, version: '1.0.0', config: z.object({}), setup: () => ({}) }),
  ...parts,
});

describe('a runtime', () => {
  test('reports all that is wrong with its plugins together, and starts nothing', async () => {
    const wrong = createTestRuntime({
      plugins: [
        storeMemory,
        plugin('needy', { needs: [TOOLS, LOGGER, { ...EVENT_STORE, name: 'other', key: Symbol.for('other') }] }),
        plugin('second', { provides: [EVENT_STORE] }),
        plugin('needy'),
      ],
    });
    await expect(wrong).rejects.toSatisfy((error) => {
      if (!isPerdureError(error, 'PERDURE_PLUGINS_INVALID')) return false;
      for (const part of ['needy', 'second', 'store-memory', 'event-store', 'other'])
        expect(error.message).toContain(part);
      return true;
    });
  });

  test.each<[string, PluginLike, string, object]>([
    [
      'another api',
      plugin('old', { api: 7 }),
      'PERDURE_PLUGIN_API_MISMATCH',
      { plugin: 'old', actual: 7, expected: 1 },
    ],
    [
      'a configuration that is not valid',
      plugin('strict', { config: z.object({ size: z.number() }) }),
      'PERDURE_PLUGIN_INVALID',
      { plugin: 'strict', field: 'config.size' },
    ],
    [
      'a member of its configuration that there is not',
      { plugin: plugin('strict', { config: z.strictObject({}) }), config: { colour: 'red' } },
      'PERDURE_PLUGIN_INVALID',
      { plugin: 'strict', field: 'config.colour' },
    ],
  ])('refuses a plugin with %s and says what', async (_, refused, wanted, data) => {
    await expect(createTestRuntime({ plugins: [storeMemory, refused] })).rejects.toSatisfy(code(wanted, data));
  });

  test('leaves out a plugin that cannot set up or start, names two when one needs the other [P19] [R25]', async () => {
    const logged: unknown[] = [];
    const broken = plugin('broken', {
      setup: () => {
        throw new Error('oh');
      },
    });
    const late = plugin('late', { setup: () => ({ start: () => Promise.reject(new Error('oh')) }) });
    const logger = { log: (...line: unknown[]) => logged.push(line) };
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing, broken, late], logger });
    expect(runtime.plugins().map(({ name, status }) => `${name} ${status}`)).toEqual([
      'store-memory ready',
      'allowing ready',
      'broken failed',
      'late failed',
    ]);
    expect(JSON.stringify(logged)).toContain('broken');
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'still here' }]) });
    expect((await (await agent.sessions.create()).send('hi')).text).toBe('still here');
    await runtime.dispose();
    const store = plugin('store', {
      provides: [EVENT_STORE],
      setup: () => {
        throw new Error('no disk');
      },
    });
    await expect(createTestRuntime({ plugins: [store, plugin('user', { needs: [EVENT_STORE] })] })).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_PLUGIN_FAILED') && /store.*user/s.test(error.message),
    );
  });

  test.each([EVENT_STORE, PERMISSION, GATES, HOOKS, REDACTORS, ASKER])(
    'does not start without a plugin that provides "$name" and fails, and names it',
    async (token) => {
      const guard = plugin('guard', {
        provides: [token],
        setup: () => {
          throw new Error('cannot');
        },
      });
      const plugins = token === EVENT_STORE ? [guard] : [storeMemory, guard];
      const expected = { plugin: 'guard', stage: 'setup', reason: 'cannot' };
      await expect(createTestRuntime({ plugins })).rejects.toSatisfy(code('PERDURE_PLUGIN_FAILED', expected));
    },
  );

  test('stops its plugins in the reverse order, once, and all of them although one fails', async () => {
    const stops: string[] = [];
    const stopping = (name: string) =>
      plugin(name, {
        setup: () => ({
          stop: async () => {
            stops.push(name);
            if (name === 'b') throw new Error('stuck');
          },
        }),
      });
    const runtime = await createTestRuntime({ plugins: [storeMemory, stopping('a'), stopping('b'), stopping('c')] });
    await Promise.all([runtime.dispose(), runtime.dispose()]);
    expect(stops).toEqual(['c', 'b', 'a']);
  });
});

describe('an agent', () => {
  test.each<[string, object, string]>([
    ['an empty id', { id: ' ' }, 'agent.id'],
    ['a limit out of range', { id: 'a', limits: { maxSteps: 0 } }, 'agent.limits.maxSteps'],
  ])('with %s is refused by the field', async (_, options, field) => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    expect(() => runtime.agent(options as never)).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ field }) }),
    );
    await runtime.dispose();
  });

  test.each<[string, object, RegExp]>([
    ['no effect contract', { effect: 'sometimes' }, /effect is none of/],
    ['no way to be reconciled', { effect: 'reconcile' }, /no function reconcile/],
  ])('refuses a tool with %s by its name', async (_, wrong, message) => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    const tools = { odd: { inputSchema: z.object({}), execute: () => 1, ...wrong } };
    const agent = runtime.agent({ id: 'a', model: new ScriptedModel([]), tools: tools as never });
    await agent.ready();
    const session = await agent.sessions.create();
    await expect(session.tool('odd', {})).rejects.toThrow(message);
    await runtime.dispose();
  });

  test('takes models as instances only, and builds a session at once only when it is ready', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    expect(() => runtime.agent({ id: 'a', models: { m: 'gpt' as never } })).toThrow(/LanguageModel/);
    const agent = runtime.agent({ id: 'b' });
    expect(() => agent.session('/x')).toThrow(expect.objectContaining({ code: 'PERDURE_ASYNC_BUILD_REQUIRED' }));
    await agent.ready();
    const session = agent.session('', { sessionId: 's' });
    expect(await session.send('x')).toMatchObject({ status: 'failed', error: { code: 'PERDURE_MODEL_MISSING' } });
    await runtime.dispose();
  });

  test.each<[string, object, string, string?]>([
    ['id', { sessionId: '' }, 'sessionId'],
    ['id of spaces', { sessionId: ' ' }, 'sessionId', 'it has nothing but white space'],
    ['label', { tenantId: 5 }, 'tenantId'],
    ['option that does not exist', { colour: 'red' }, 'colour'],
    ['model', { model: '' }, 'model'],
  ])('refuses a session with a bad %s by the field, and nothing is stored [A9]', async (_, options, field, reason) => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store)] });
    const agent = runtime.agent({ id: 'a' });
    await expect(agent.sessions.create(options as never)).rejects.toSatisfy(
      code('PERDURE_SESSION_CONFIGURATION', { field, ...(reason !== undefined && { reason }) }),
    );
    expect((await agent.sessions.list()).items).toEqual([]);
    await runtime.dispose();
  });

  test('makes a session once, finds it again, and does not find what is not there or belongs to another', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    const agent = runtime.agent({ id: 'a' });
    const other = runtime.agent({ id: 'b' });
    await agent.sessions.create({ sessionId: 's' });
    await expect(agent.sessions.create({ sessionId: 's' })).rejects.toSatisfy(code('PERDURE_SESSION_EXISTS'));
    await expect(agent.sessions.get('t')).rejects.toSatisfy(code('PERDURE_SESSION_NOT_FOUND'));
    await expect(other.sessions.get('s')).rejects.toSatisfy(
      code('PERDURE_SESSION_CONFIGURATION', { field: 'agentId' }),
    );
    const made = await Promise.allSettled(Array.from({ length: 10 }, () => agent.sessions.create({ sessionId: 'u' })));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await runtime.dispose();
  });

  test('keeps tenants apart by key: the same id is another session [P17]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory] });
    const acme = runtime.agent({ id: 'a', tenant: 'acme', model: new ScriptedModel([{ text: 'for acme' }]) });
    const none = runtime.agent({ id: 'b', model: new ScriptedModel([]) });
    await (await acme.sessions.create({ sessionId: 's', tenantId: 'label' })).send('hi');
    await expect(none.sessions.get('s')).rejects.toSatisfy(code('PERDURE_SESSION_NOT_FOUND'));
    await none.sessions.create({ sessionId: 's', tenantId: 'acme' });
    expect((await acme.sessions.list()).items).toHaveLength(1);
    expect((await acme.sessions.list()).items[0]).toMatchObject({
      id: 's',
      messages: 2,
      preview: 'for acme',
      status: 'idle',
    });
    expect((await runtime.services.store.read('session-acme.s')).facts.length).toBeGreaterThan(3);
    expect((await runtime.services.store.read('session-_.s')).facts).toHaveLength(1);
    await runtime.dispose();
  });

  test('disposed in the middle of a turn leaves it where another goes on, and every handle resolves [R2]', async () => {
    const store = new MemoryEventStore();
    const calls: string[] = [];
    const script = scriptByRound([
      { calls: [{ name: 'lookup', input: { key: 'a' } }] },
      { text: 'a long answer', deltas: 9, deltaDelayMs: 30 },
    ]);
    const start = (nodeId: string) => createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
    const first = await start('a');
    const tools = { lookup: lookupTool(calls) };
    const session = await first
      .agent({ id: 'clerk', model: new ScriptedModel(script), tools })
      .sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    for await (const event of session.events()) if (event.type === 'text_delta') break;
    await first.dispose();
    expect(await turn.finished).toMatchObject({ status: 'suspended', success: false });
    await expect(session.prompt('x')).rejects.toSatisfy(code('PERDURE_SESSION_CLOSED'));
    const second = await start('b');
    const agent = second.agent({ id: 'clerk', model: new ScriptedModel(script), tools });
    const resumed = await (await agent.sessions.get('s')).resume();
    expect(await resumed?.finished).toMatchObject({ status: 'completed', text: 'a long answer' });
    expect(calls).toEqual(['a']);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await second.dispose();
  });

  test('resumes nothing that is not there, and says what it would have to do without', async () => {
    const store = new MemoryEventStore();
    const start = (nodeId: string) => createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
    const first = await start('a');
    const waits = { ...lookupTool(), execute: () => new Promise(() => undefined) };
    const model = new ScriptedModel([{ calls: [{ name: 'lookup', input: { key: 'a' } }] }]);
    const session = await first
      .agent({ id: 'clerk', model, tools: { lookup: waits } })
      .sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await expect(session.resumeRun('no-such-run')).rejects.toThrow("no loop checkpoint found for run 'no-such-run'");
    for await (const event of session.events()) if (event.type === 'tool_execution_start') break;
    await first.dispose();
    const runId = String((await turn.finished).runId);
    const second = await start('b');
    const agent = second.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'without it' }]) });
    const again = await agent.sessions.get('s');
    await expect(again.resumeRun(runId)).rejects.toSatisfy(
      code('PERDURE_NOT_SUPPLIED', { kind: 'tool', id: 'lookup' }),
    );
    expect(await again.resumeRun(runId, { withoutMissing: true })).toMatchObject({ text: 'without it' });
    const started = (await store.read('session-_.s')).facts.findLast(({ type }) => type === 'RunStarted');
    expect(JSON.parse(started?.payload ?? '')).toMatchObject({
      resumedFrom: runId,
      without: [{ kind: 'tool', id: 'lookup' }],
    });
    await second.dispose();
  });
});
