import { afterEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  ASKER,
  definePlugin,
  PERMISSION,
  type Asker,
  type BudgetGuard,
  type PluginLike,
  type Runtime,
  type Session,
} from '@perdure/plugin-api';
import policyApproval from '@perdure/policy-approval';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

let runtime: Runtime | undefined;
afterEach(() => runtime?.dispose());

const oneCall: Script = {
  rules: [
    { when: { userTextContains: 'again' }, answer: { text: 'again' } },
    { when: { toolResults: 0 }, answer: { calls: [{ name: 'work', input: { key: 'a' } }] } },
    { answer: { text: 'done' } },
  ],
};
const limited: Script = {
  rules: [
    { when: { userTextContains: 'again' }, answer: { text: 'again' } },
    { answer: { error: { status: 429, message: 'slow down', retryAfter: { seconds: 600 } } } },
  ],
};

/** Something that begins and then never ends by itself. */
function hang() {
  const call = { hasBegun: false, wasAborted: false };
  const begin = (signal?: AbortSignal): Promise<never> => {
    call.hasBegun = true;
    signal?.addEventListener('abort', () => (call.wasAborted = true));
    return new Promise(() => undefined);
  };
  return { call, begin };
}

interface Setting {
  readonly script?: Script;
  readonly plugins?: readonly PluginLike[];
  readonly tool?: object;
  readonly budgetGuard?: BudgetGuard;
}

async function sessionWith({ script = oneCall, plugins = [allowing], tool = {}, budgetGuard }: Setting) {
  const store = new MemoryEventStore();
  const started = await createTestRuntime({ plugins: [storesWith(store), ...plugins] });
  runtime = started;
  const runs: string[] = [];
  const tools = { work: { ...lookupTool(runs, 'once'), ...tool } };
  const guarded = budgetGuard === undefined ? {} : { budgetGuard };
  const agent = started.agent({ id: 'clerk', model: new ScriptedModel(script), tools, ...guarded });
  const session = await agent.sessions.create({ sessionId: 's' });
  const facts = async () => (await store.read('session-_.s')).facts;
  const has = async (type: string): Promise<boolean> => (await facts()).some((fact) => fact.type === type);
  return { agent, session, runs, facts, has };
}

function asking(asker: Asker): PluginLike {
  return definePlugin({
    name: 'asking',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [ASKER, PERMISSION],
    setup: ({ provide }) => {
      provide(ASKER, asker);
      provide(PERMISSION, { id: 'open', digest: 'open', decide: () => ({ decision: 'ask' }) });
      return {};
    },
  });
}

/** Stops the turn; it ends, nothing of it ran, and the session takes the next prompt. */
async function stopped(session: Session, turn: Awaited<ReturnType<Session['prompt']>>): Promise<void> {
  expect(await session.stop('enough')).toEqual({ stopped: true, turnId: turn.id });
  expect(await turn.finished).toMatchObject({ success: false, status: 'cancelled' });
  expect(await session.send('again')).toMatchObject({ success: true, text: 'again' });
}

describe('a stop ends a turn that waits', () => {
  test('for a hook before a call', async () => {
    const { agent, session, runs } = await sessionWith({});
    const { call, begin } = hang();
    session.registerHook('slow', 'pre_tool_use', null, { timeoutMs: 600_000 }, (_, signal) => begin(signal));
    const turn = await session.prompt('go');
    await waitUntil(() => call.hasBegun);
    await stopped(session, turn);
    expect(call.wasAborted).toBe(true);
    expect(runs).toEqual([]);
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('for a budget guard, before a model call and before a tool call', async () => {
    for (const method of ['checkBeforeLlm', 'checkBeforeTool'] as const) {
      const { call, begin } = hang();
      const budgetGuard: BudgetGuard = { timeoutMs: 600_000, [method]: () => begin() };
      const { session, runs } = await sessionWith({ budgetGuard });
      const turn = await session.prompt('go');
      await waitUntil(() => call.hasBegun);
      session.setBudgetGuard(null);
      await stopped(session, turn);
      expect(runs).toEqual([]);
      await runtime?.dispose();
    }
  });

  test('for a person at a terminal', async () => {
    const { call, begin } = hang();
    const { session, runs } = await sessionWith({ plugins: [asking({ ask: (_, __, signal) => begin(signal) })] });
    const turn = await session.prompt('go');
    await waitUntil(() => call.hasBegun);
    await stopped(session, turn);
    expect(call.wasAborted).toBe(true);
    expect(runs).toEqual([]);
  });

  test('for an approval, which nobody needs to give any more', async () => {
    const { agent, session, runs } = await sessionWith({ plugins: [policyApproval] });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 1);
    await stopped(session, turn);
    expect(await session.interactions()).toEqual([]);
    expect(runs).toEqual([]);
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('to try a model again', async () => {
    const { agent, session, has } = await sessionWith({ script: limited });
    const turn = await session.prompt('go');
    await waitUntil(() => has('ModelCallFailed'));
    await stopped(session, turn);
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test.each([
    ['read', 'cancelled'],
    ['idempotent', 'unknown'],
    ['once', 'unknown'],
  ] as const)('for a tool that ignores its signal: with the contract %s it is %s', async (effect, status) => {
    const { call, begin } = hang();
    const { session } = await sessionWith({ tool: { effect, execute: () => begin() } });
    const turn = await session.prompt('go');
    await waitUntil(() => call.hasBegun);
    await stopped(session, turn);
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(results).toMatchObject([{ name: 'work', status }]);
  });
});

describe('a stop that comes too late', () => {
  test('leaves no fact and ends nothing', async () => {
    const { session, facts } = await sessionWith({});
    const turn = await session.prompt('go');
    expect(await turn.finished).toMatchObject({ success: true });
    const before = (await facts()).length;
    expect(await session.stop()).toEqual({ stopped: false, turnId: null });
    expect(await turn.stop()).toMatchObject({ stopped: false });
    expect(await facts()).toHaveLength(before);
    expect(await session.send('again')).toMatchObject({ success: true, text: 'again' });
  });

  test('for its own turn does not end the one that runs', async () => {
    const { call, begin } = hang();
    let isSlow = false;
    const execute = (): unknown => (isSlow ? begin() : 'quick');
    const { session, facts } = await sessionWith({ tool: { effect: 'read', execute } });
    const first = await session.prompt('go');
    await first.finished;
    isSlow = true;
    const second = await session.prompt('go');
    await waitUntil(() => call.hasBegun);
    const before = (await facts()).length;
    expect(await first.stop()).toMatchObject({ stopped: false });
    expect(await facts()).toHaveLength(before);
    await stopped(session, second);
  });
});
