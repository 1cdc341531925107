import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  type BudgetGuard,
  type EventStore,
  type PermissionDecision,
  type ToolContext,
  type Tools,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const calling = (name: string): Script => ({
  rules: [
    { when: { userTextContains: 'go', toolResults: 0 }, answer: { calls: [{ name, input: { key: 'a' } }] } },
    { answer: { text: 'done' } },
  ],
});

interface Parts {
  readonly store?: EventStore;
  readonly nodeId?: string;
  readonly name?: string;
  readonly tools?: Tools;
  readonly decide?: () => PermissionDecision;
  readonly budgetGuard?: BudgetGuard;
  readonly readOnly?: boolean;
  readonly asks?: boolean;
}

async function node(parts: Parts = {}) {
  const { store = new MemoryEventStore(), nodeId = 'a', name = 'lookup', tools = {}, decide, asks, ...options } = parts;
  const runs: string[] = [];
  const open = (): PermissionDecision => ({ decision: asks === true ? 'ask' : 'allow' });
  const governance = governedBy(decide ?? open, asks === true ? {} : undefined);
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), governance],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const all = { lookup: lookupTool(runs, 'once'), ...tools };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(calling(name)), tools: all, ...options });
  await agent.ready();
  return { runtime, agent, runs, store };
}

async function facts(store: EventStore, type: string) {
  const page = await store.read('session-_.s');
  return page.facts.filter((fact) => fact.type === type).map((fact) => JSON.parse(fact.payload));
}

/** A store that does something of another's before it takes a batch of a kind, once. */
function before(
  store: MemoryEventStore,
  isIt: (types: readonly string[], text: string) => boolean,
  act: () => Promise<unknown>,
): EventStore {
  let isOver = false;
  return {
    get name() {
      return store.name;
    },
    get limits() {
      return store.limits;
    },
    get capabilities() {
      return store.capabilities;
    },
    append: async (stream, batch, options) => {
      if (
        !isOver &&
        isIt(
          batch.map(({ type }) => type),
          batch.map(({ payload }) => payload).join(),
        )
      ) {
        isOver = true;
        await act();
      }
      return store.append(stream, batch, options);
    },
    read: (stream, options) => store.read(stream, options),
    subscribe: (source, options) => store.subscribe(source, options),
    truncate: (stream, at) => store.truncate(stream, at),
    close: () => store.close(),
  };
}

const circular: Record<string, unknown> = {};
circular['itself'] = circular;
const thrown = (): never => {
  throw new Error('gotcha');
};

describe('what others answer denies a call when it cannot be kept, and the session goes on [P8] [P20]', () => {
  const answers: [string, () => unknown][] = [
    ['a big integer', () => ({ modified: { args: { n: 1n } } })],
    ['a circle', () => ({ modified: { args: circular } })],
    ['a getter that throws', () => Object.defineProperty({}, 'modified', { get: thrown })],
    ['megabytes of arguments', () => ({ modified: { args: { key: 'x'.repeat(2_000_000) } } })],
    ['megabytes of reason', () => ({ action: 'block', reason: 'x'.repeat(2_000_000) })],
  ];
  test.each(answers)('a hook: %s', async (_, answer) => {
    const { runtime, agent, runs, store } = await node();
    const session = await agent.sessions.create({ sessionId: 's' });
    session.registerHook('hostile', 'pre_tool_use', null, null, answer as never);
    expect((await session.tool('lookup', { key: 'h' })).status).toBe('denied');
    expect((await session.send('go')).text).toBe('done');
    expect((await facts(store, 'ToolCallDecided')).map(({ decision }) => decision)).toEqual(['deny', 'deny']);
    expect(runs).toEqual([]);
    session.unregisterHook('hostile');
    expect((await session.send('go')).success).toBe(true);
    expect(runs).toEqual(['a']);
    await runtime.dispose();
  });

  test.each<[string, object]>([
    ['a rule that is no text', { decision: 'allow', rule: 1n }],
    ['a reason that is no text', { decision: 'deny', reason: circular }],
    ['megabytes of reason', { decision: 'deny', reason: 'x'.repeat(2_000_000) }],
  ])('a policy: %s', async (_, said) => {
    const { runtime, agent, runs, store } = await node({ decide: () => said as PermissionDecision });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).text).toBe('done');
    expect((await session.governedTool('lookup', { key: 'h' })).status).toBe('denied');
    expect(await facts(store, 'ToolCallDecided')).toHaveLength(2);
    expect(runs).toEqual([]);
    await runtime.dispose();
  });

  test.each<[string, BudgetGuard]>([
    [
      'which calls it guards, with a rejection',
      { guardsTools: (() => Promise.reject(new Error('broken'))) as never, checkBeforeTool: () => null },
    ],
  ])('a guard says %s', async (_, budgetGuard) => {
    const { runtime, agent, runs } = await node({ budgetGuard });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).text).toBe('done');
    expect(runs).toEqual(['a']);
    await runtime.dispose();
  });
});

test('a tool that fails with megabytes is settled, with as much as there is room for [P3]', async () => {
  const big: Tools = {
    big: {
      inputSchema: z.object({}),
      execute: () => {
        throw Object.assign(new Error('x'.repeat(2_000_000)), {
          code: 'y'.repeat(2_000_000),
          data: 'z'.repeat(2_000_000),
        });
      },
    },
  };
  const { runtime, agent, store } = await node({ name: 'big', tools: big });
  const session = await agent.sessions.create({ sessionId: 's' });
  expect((await session.send('go')).text).toBe('done');
  expect((await session.tool('big', {})).status).toBe('failed');
  const settled = await facts(store, 'ToolCallSettled');
  expect(settled.map(({ status }) => status)).toEqual(['failed', 'failed']);
  expect((await agent.replay('s')).difference).toBeUndefined();
  await runtime.dispose();
});

test('a part is not started behind the stop of its turn', async () => {
  const store = new MemoryEventStore();
  const whole: Tools = {
    whole: {
      inputSchema: z.object({}),
      effect: 'idempotent',
      execute: async (_: object, { calls }: ToolContext) => (await calls.call('lookup', { key: 'part' })).status,
    },
  };
  const other = await node({ store, nodeId: 'b', name: 'whole', tools: whole });
  const stopping = before(
    store,
    (types, text) => types.includes('ToolCallStarted') && text.includes('"nested"'),
    async () => (await other.agent.sessions.get('s')).stop('enough'),
  );
  const { runtime, agent, runs } = await node({ store: stopping, name: 'whole', tools: whole });
  const session = await agent.sessions.create({ sessionId: 's' });
  expect((await session.send('go')).status).toBe('cancelled');
  expect(runs).toEqual([]);
  expect(await facts(store, 'ToolCallStarted')).toHaveLength(1);
  const [part] = await facts(store, 'ToolCallSettled');
  expect(part).toMatchObject({ status: 'cancelled' });
  expect((await agent.replay('s')).difference).toBeUndefined();
  await other.runtime.dispose();
  await runtime.dispose();
});

test('a part that was started before its process died is not cancelled by a stop that comes first [P3]', async () => {
  const store = new MemoryEventStore();
  let isDeaf = true;
  const inputSchema = z.object({});
  const tools: Tools = {
    whole: {
      inputSchema,
      effect: 'idempotent',
      execute: async (_: object, { calls }: ToolContext) => (await calls.call('part', {})).status,
    },
    part: {
      inputSchema,
      effect: 'idempotent',
      execute: (_: object, { abortSignal }: ToolContext) =>
        new Promise((resolve, reject) => {
          if (!isDeaf) resolve('again');
          abortSignal.addEventListener('abort', () => reject(new Error('told to end')));
        }),
    },
  };
  const first = await node({ store, name: 'whole', tools });
  await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
  await waitUntil(async () => (await facts(store, 'ToolCallStarted')).length === 2);
  await first.runtime.dispose();
  isDeaf = false;
  const other = await node({ store, nodeId: 'c', name: 'whole', tools });
  const stopping = before(
    store,
    (types, text) => types.includes('ToolCallStarted') && text.includes('"nested"'),
    async () => (await other.agent.sessions.get('s')).stop('enough'),
  );
  const second = await node({ store: stopping, nodeId: 'b', name: 'whole', tools });
  const turn = await (await second.agent.sessions.get('s')).resume();
  expect((await turn?.finished)?.status).toBe('cancelled');
  const settled = await facts(store, 'ToolCallSettled');
  expect(settled[0]).toMatchObject({ status: 'unknown', failure: { code: 'PERDURE_TOOL_UNKNOWN_OUTCOME' } });
  expect(new Set(settled.map(({ callId }) => callId)).size).toBe(settled.length);
  expect((await second.agent.replay('s')).difference).toBeUndefined();
  await other.runtime.dispose();
  await second.runtime.dispose();
});

test('a governed call of the host ends when another node takes the session over', async () => {
  const store = new MemoryEventStore();
  const slow: Tools = {
    slow: {
      inputSchema: z.object({}),
      effect: 'read',
      execute: (_: object, { abortSignal }: ToolContext) =>
        new Promise((_resolve, reject) =>
          abortSignal.addEventListener('abort', () => reject(new Error('told to end'))),
        ),
    },
  };
  const decide = (): PermissionDecision => ({ decision: 'ask' });
  const a = await node({ store, name: 'slow', tools: slow, asks: true, decide });
  const session = await a.agent.sessions.create({ sessionId: 's' });
  const call = session.governedTool('lookup', { key: 'a' }).catch((error: unknown) => error);
  await waitUntil(async () => (await session.interactions()).length === 1);
  const b = await node({ store, nodeId: 'b', name: 'slow', tools: slow, asks: true, decide });
  const other = await b.agent.sessions.get('s');
  await session.prompt('go');
  await other.resume({ takeOver: true });
  await call;
  await waitUntil(async () => (await facts(store, 'ToolCallSettled')).length > 0);
  expect((await facts(store, 'ToolCallSettled'))[0]).toMatchObject({ status: 'cancelled' });
  expect(a.runs).toEqual([]);
  await b.runtime.dispose();
  await a.runtime.dispose();
});

test('an agent that may only read runs no call that was approved while it might do more', async () => {
  const store = new MemoryEventStore();
  const first = await node({ store, asks: true });
  await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
  await waitUntil(async () => (await facts(store, 'ApprovalRequested')).length === 1);
  await first.runtime.dispose();
  const second = await node({ store, nodeId: 'b', asks: true, readOnly: true });
  const session = await second.agent.sessions.get('s');
  const [asked] = await session.interactions();
  await session.respond({ id: asked?.id ?? '', decision: 'allow', by: 'ada' });
  await (
    await session.resume()
  )?.finished;
  expect((await facts(store, 'ToolCallSettled'))[0]).toMatchObject({ failure: { code: 'PERDURE_TOOL_READ_ONLY' } });
  expect(second.runs).toEqual([]);
  await second.runtime.dispose();
});
