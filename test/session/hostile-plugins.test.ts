import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, GATES, PERMISSION, TOOLS, type Token } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const broken = () => {
  throw new Error('broken');
};
const late = () => Promise.reject(new Error('broken later'));
const nothing = Object.create(null) as object;
const throwing = (value: unknown) => () => {
  throw value;
};
const unreadable = new Error('x');
Object.defineProperty(unreadable, 'message', { get: broken });

function providing<Port>(token: Token<Port>, value: Port) {
  return definePlugin({
    name: `with-${token.name}`,
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [token],
    setup: ({ provide }) => {
      provide(token, value as never);
      return {};
    },
  });
}

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

async function run(tool: object, plugins = [allowing]) {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), ...plugins] });
  const script = {
    rules: [
      { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'a' } }] } },
      { answer: { text: 'done' } },
    ],
  };
  const tools = { lookup: { ...lookupTool(), ...tool } };
  const agent = runtime.agent({ id: 'a', model: new ScriptedModel(script), tools });
  const session = await agent.sessions.create({ sessionId: 's' });
  const turn = await session.send('go');
  const [result] = (await session.messages()).items.flatMap((message) =>
    message.role === 'tool' ? message.parts : [],
  );
  const host = await session.tool('lookup', { key: 'b' });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await runtime.dispose();
  return { turn, result, host };
}

describe('code of others that misbehaves harms its call alone [P19]', () => {
  test.each<[string, object, string]>([
    ['a tool that throws nothing that has a text', { execute: throwing(nothing) }, 'failed'],
    ['a tool that throws an error that cannot be read', { execute: throwing(unreadable) }, 'failed'],
    ['a tool that throws a symbol', { execute: throwing(Symbol('x')) }, 'failed'],
    ['a tool that throws later', { execute: late }, 'failed'],
    ['subjects that throw', { permissionSubjects: broken }, 'denied'],
    ['subjects that come later', { permissionSubjects: late }, 'denied'],
    ['subjects that are no texts', { permissionSubjects: () => [5] }, 'denied'],
    ['a confirmation that throws', { confirmation: broken }, 'denied'],
    ['a schema that throws', { inputSchema: schema(broken) }, 'denied'],
    ['a schema that answers later', { inputSchema: schema(late) }, 'denied'],
    ['a schema that answers nothing', { inputSchema: schema(() => null) }, 'denied'],
    ['a refinement that throws', { inputSchema: z.object({ key: z.string() }).refine(broken) }, 'denied'],
  ])('%s', async (_, tool, status) => {
    const { turn, result, host } = await run(tool);
    expect(turn).toMatchObject({ success: true, text: 'done' });
    expect(result).toMatchObject({ status, failure: { code: expect.stringMatching(/^PERDURE_/) } });
    expect(host.status).toBe(status);
    expect(unhandled).toEqual([]);
  });

  test.each<[string, Parameters<typeof providing>]>([
    ['a rule gate that answers later', [GATES, { id: 'g', kind: 'rule', digest: '', decide: late }]],
    ['a gate that throws nothing', [GATES, { id: 'g', kind: 'waiting', decide: throwing(nothing) }]],
    ['a policy that answers later', [PERMISSION, { id: 'p', digest: '', decide: late }]],
    ['a policy that throws nothing', [PERMISSION, { id: 'p', digest: '', decide: throwing(nothing) }]],
  ])('%s denies', async (_, provided) => {
    const isPolicy = provided[0] === (PERMISSION as unknown);
    const { turn, result } = await run({}, [...(isPolicy ? [] : [allowing]), providing(...provided)]);
    expect(turn).toMatchObject({ success: true, text: 'done' });
    expect(result).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_GATE_FAILED' } });
    expect(unhandled).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ['throws', broken],
    ['answers later', late],
    ['gives nothing', () => null],
  ])('a source of tools that %s ends the turn with its name [A10]', async (_, tools) => {
    const runtime = await createTestRuntime({
      plugins: [storesWith(new MemoryEventStore()), allowing, providing(TOOLS, { name: 'odd', tools } as never)],
    });
    const agent = runtime.agent({ id: 'a', model: new ScriptedModel([{ text: 'hello' }]) });
    const session = await agent.sessions.create();
    const result = await session.send('go');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PERDURE_SESSION_INITIALIZATION' } });
    expect(result.error?.message).toContain('odd');
    expect(unhandled).toEqual([]);
    await runtime.dispose();
  });
});

/** A Standard Schema whose check is the function given. */
function schema(validate: () => unknown) {
  return { '~standard': { version: 1, vendor: 'odd', validate, jsonSchema: { input: () => ({ type: 'object' }) } } };
}
