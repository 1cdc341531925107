import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type PerdureRuntime, type RuntimeAgent } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import type { ErrorCode, Session, TurnHandle } from '@perdure/plugin-api';
import { createRuntime as createReadyRuntime } from '@perdure/runtime';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, storesWith } from '../fixtures/agents.js';

let runtime: PerdureRuntime;
let agent: RuntimeAgent;
let session: Session;
let turn: TurnHandle;
const store = new MemoryEventStore();
const inputs: unknown[] = [];
beforeAll(async () => {
  runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const keeping = { inputSchema: z.unknown(), execute: (input: unknown) => inputs.push(input) };
  agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'a' }]), tools: { keep: keeping } });
  session = await agent.sessions.create({ sessionId: 's' });
  turn = await session.prompt('hi');
  await turn.finished;
});
afterAll(() => runtime.dispose());

const odd = <Value>(value: unknown): Value => value as Value;
const firstEvent = async (options: unknown): Promise<unknown> => {
  for await (const event of session.events(odd(options))) return event;
  return undefined;
};
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const noPlugin = { name: 'odd', api: 1, version: '1.0.0', setup: () => ({}) };

/** What is asked, the field that is refused, and the code unless it is PERDURE_INPUT_INVALID. */
const refused: Readonly<Record<string, readonly [ask: () => unknown, field: string, code?: ErrorCode]>> = {
  'prompt(null)': [() => session.prompt(odd(null)), 'prompt'],
  'send(5)': [() => session.send(odd(5)), 'prompt'],
  'stream()': [() => session.stream(odd(undefined)), 'prompt'],
  'set(null)': [() => session.set(odd(null)), 'change'],
  'set({})': [() => session.set(odd({})), 'model'],
  'messages(null)': [() => session.messages(odd(null)), 'options'],
  'messages([])': [() => session.messages(odd([])), 'options'],
  'events(null)': [() => firstEvent(null), 'options'],
  'events({ from: 5 })': [() => firstEvent({ from: 5 }), 'from'],
  'events({ signal: 5 })': [() => firstEvent({ signal: 5 }), 'signal'],
  'subscribe(text)': [() => session.subscribe(odd('x')), 'listener'],
  'resumeRun()': [() => session.resumeRun(odd(undefined)), 'runId'],
  'resumeRun(id, null)': [() => session.resumeRun('x', odd(null)), 'options'],
  'resume(null)': [() => session.resume(odd(null)), 'options'],
  'resume({ takeOver: text })': [() => session.resume({ takeOver: odd('no') }), 'takeOver'],
  'tool()': [() => session.tool(odd(undefined), {}), 'name'],
  'tool(5)': [() => session.tool(odd(5), {}), 'name'],
  'tool(name)': [() => session.tool('keep', odd(undefined)), 'input'],
  'tool(name, big integer)': [() => session.tool('keep', odd(10n)), 'input'],
  'tool(name, function)': [
    () =>
      session.tool(
        'keep',
        odd(() => 1),
      ),
    'input',
  ],
  'tool(name, cycle)': [() => session.tool('keep', odd(cycle)), 'input'],
  'governedTool()': [() => session.governedTool(odd(undefined), {}), 'name'],
  'governedTool(name, big integer)': [() => session.governedTool('keep', odd({ a: 10n })), 'input'],
  'stop(5)': [() => session.stop(odd(5)), 'reason'],
  'stop({})': [() => session.stop(odd({})), 'reason'],
  'turn.stop(5)': [() => turn.stop(odd(5)), 'reason'],
  'create(null)': [() => agent.sessions.create(odd(null)), 'options', 'PERDURE_SESSION_CONFIGURATION'],
  'create(5)': [() => agent.sessions.create(odd(5)), 'options', 'PERDURE_SESSION_CONFIGURATION'],
  'create({ workspace: 5 })': [
    () => agent.sessions.create({ workspace: odd(5) }),
    'workspace',
    'PERDURE_SESSION_CONFIGURATION',
  ],
  'get(id, null)': [() => agent.sessions.get('s', odd(null)), 'options', 'PERDURE_SESSION_CONFIGURATION'],
  'get()': [() => agent.sessions.get(odd(undefined)), 'sessionId', 'PERDURE_SESSION_CONFIGURATION'],
  'session(workspace, null)': [() => agent.session('', odd(null)), 'options', 'PERDURE_SESSION_CONFIGURATION'],
  'replay()': [() => agent.replay(odd(undefined)), 'sessionId', 'PERDURE_SESSION_CONFIGURATION'],
  'list(null)': [() => agent.sessions.list(odd(null)), 'options'],
  'list({ cursor: 5 })': [() => agent.sessions.list({ cursor: odd(Symbol('x')) }), 'cursor'],
  'runtime.sessions(null)': [() => runtime.sessions(odd(null)), 'options'],
  'runtime.sessions({}, null)': [() => runtime.sessions({}, odd(null)), 'filter'],
  'addPlugin(null)': [() => agent.addPlugin(odd(null)), 'plugin'],
  'addPlugin({})': [() => agent.addPlugin(odd({})), 'name', 'PERDURE_PLUGIN_INVALID'],
  'addPlugin(no schema)': [() => agent.addPlugin(odd(noPlugin)), 'config', 'PERDURE_PLUGIN_INVALID'],
  'addPlugin(no lists)': [
    () => agent.addPlugin(odd({ ...noPlugin, config: z.unknown() })),
    'provides',
    'PERDURE_PLUGIN_INVALID',
  ],
  'removePlugin(5)': [() => agent.removePlugin(odd(5)), 'name'],
  'agent(null)': [() => runtime.agent(odd(null)), 'agent', 'PERDURE_CONFIGURATION'],
  'agent({ plugins: 5 })': [
    () => runtime.agent({ id: 'b', plugins: odd(5) }),
    'agent.plugins',
    'PERDURE_CONFIGURATION',
  ],
  'createRuntime(null)': [() => createRuntime(odd(null)), 'options', 'PERDURE_CONFIGURATION'],
  'createRuntime(text)': [() => createRuntime(odd('x')), 'options', 'PERDURE_CONFIGURATION'],
  'createRuntime({ plugins: 5 })': [() => createRuntime({ plugins: odd(5) }), 'plugins', 'PERDURE_CONFIGURATION'],
  'createRuntime({ plugins: [null] })': [
    () => createRuntime({ plugins: [odd(null)] }),
    'name',
    'PERDURE_PLUGIN_INVALID',
  ],
  'ready createRuntime(null)': [() => createReadyRuntime(odd(null)), 'options', 'PERDURE_CONFIGURATION'],
  'ready createRuntime({ plugins: 5 })': [
    () => createReadyRuntime({ plugins: odd(5) }),
    'plugins',
    'PERDURE_CONFIGURATION',
  ],
  'ready createRuntime({ plugins: [null, {}] })': [
    () => createReadyRuntime({ plugins: [odd(null), odd({})] }),
    'name',
    'PERDURE_PLUGIN_INVALID',
  ],
};

describe('what is no input', () => {
  test.each(Object.entries(refused))('%s is refused by its field [P20]', async (_, [ask, field, code]) => {
    const before = (await store.read('session-_.s')).head;
    const asked = (async () => ask())();
    await expect(asked).rejects.toMatchObject({ code: code ?? 'PERDURE_INPUT_INVALID', data: { field } });
    expect((await store.read('session-_.s')).head).toBe(before);
  });

  test('is known by JSON: a tool gets what is stored', async () => {
    const date = new Date(0);
    await session.tool('keep', odd({ date, none: undefined, list: [() => 1], number: Number.NaN }));
    expect(inputs).toEqual([{ date: date.toISOString(), list: [null], number: null }]);
  });
});
