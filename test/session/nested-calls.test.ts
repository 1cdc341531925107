import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  isPerdureError,
  type PermissionDecision,
  type ToolContext,
  type ToolOutcome,
  type Tools,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

type Whole = (calls: ToolContext['calls'], context: ToolContext) => Promise<unknown>;

const script: Script = {
  rules: [
    { when: { toolResults: 0 }, answer: { calls: [{ name: 'whole', input: {} }] } },
    { answer: { text: 'done' } },
  ],
};
const rule = (tool: string): PermissionDecision['decision'] =>
  tool === 'asked' ? 'ask' : tool === 'forbidden' ? 'deny' : 'allow';

async function node(
  whole: Whole,
  { store = new MemoryEventStore(), effect = 'idempotent', nodeId = 'a', others = {}, readOnly = false } = {} as {
    store?: MemoryEventStore;
    effect?: 'read' | 'idempotent' | 'once';
    nodeId?: string;
    others?: Tools;
    readOnly?: boolean;
  },
) {
  const runs: string[] = [];
  const governance = governedBy((tool) => ({ decision: rule(tool) }), {});
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), governance],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const tools: Tools = {
    whole: {
      inputSchema: z.object({}),
      effect,
      execute: (_: object, context: ToolContext) => whole(context.calls, context),
    },
    read: lookupTool(runs),
    put: lookupTool(runs, 'once'),
    asked: lookupTool(runs, 'once'),
    forbidden: lookupTool(runs, 'once'),
    ...others,
  };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools, readOnly });
  await agent.ready();
  return { runtime, agent, store, runs };
}

async function facts(store: MemoryEventStore, type: string) {
  const page = await store.read('session-_.s');
  return page.facts.filter((fact) => fact.type === type).map((fact) => JSON.parse(fact.payload));
}
async function resultsOf(session: {
  messages(): Promise<{ items: readonly { role: string; parts: readonly object[] }[] }>;
}) {
  return (await session.messages()).items.flatMap(({ role, parts }) => (role === 'tool' ? parts : []));
}

describe('a part of a call [P8]', () => {
  test('passes the gates, leaves the facts of a call, and tells whose part it is', async () => {
    const outcomes: ToolOutcome[] = [];
    const { runtime, agent, store, runs } = await node(async (calls) => {
      outcomes.push(await calls.call('read', { key: 'a' }));
      outcomes.push(await calls.call('forbidden', { key: 'b' }));
      outcomes.push(await calls.call('nothing', {}));
      outcomes.push(await calls.call('put', { key: 5 }));
      return 'made';
    });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).text).toBe('done');
    expect(outcomes.map(({ status, failure, output }) => failure?.code ?? output ?? status)).toEqual([
      'value of a',
      'PERDURE_TOOL_DENIED',
      'PERDURE_TOOL_UNKNOWN',
      'PERDURE_TOOL_INPUT',
    ]);
    expect(runs).toEqual(['a']);
    const decided = await facts(store, 'ToolCallDecided');
    const whole = decided.find(({ name }) => name === 'whole');
    expect(whole).toMatchObject({ origin: 'model', decision: 'allow' });
    const parts = decided.filter(({ origin }) => origin === 'nested');
    expect(parts.map(({ parent }) => parent)).toEqual(Array.from({ length: 4 }, () => whole.callId));
    expect(parts[0]).toMatchObject({ name: 'read', input: { key: 'a' }, decision: 'allow' });
    const settled = await facts(store, 'ToolCallSettled');
    expect(settled.map(({ callId }) => callId)).toEqual([...parts.map(({ callId }) => callId), whole.callId]);
    expect(await resultsOf(session)).toMatchObject([{ callId: whole.callId, output: 'made' }]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('of the same tool, however far up, is denied', async () => {
    let inner: ToolOutcome | undefined;
    const between: Tools = {
      between: {
        inputSchema: z.object({}),
        execute: async (_: object, { calls }: ToolContext) => (inner = await calls.call('whole', {})).status,
      },
    };
    const { runtime, agent } = await node(async (calls) => (await calls.call('between', {})).output, {
      others: between,
    });
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('go');
    expect(inner?.failure).toMatchObject({
      code: 'PERDURE_TOOL_RECURSION',
      message: expect.stringContaining('whole > between > whole'),
    });
    expect(await resultsOf(session)).toMatchObject([{ output: 'denied' }]);
    await runtime.dispose();
  });

  test('of an agent that only reads may only read, and so may its calls', async () => {
    const codes: (string | undefined)[] = [];
    const reading = await node(
      async (calls) => {
        codes.push((await calls.call('read', { key: 'a' })).failure?.code);
        codes.push((await calls.call('put', { key: 'b' })).failure?.code);
      },
      { effect: 'read', readOnly: true },
    );
    const session = await reading.agent.sessions.create({ sessionId: 's' });
    await session.send('go');
    expect(codes).toEqual([undefined, 'PERDURE_TOOL_READ_ONLY']);
    expect((await session.tool('put', { key: 'c' })).failure?.code).toBe('PERDURE_TOOL_READ_ONLY');
    expect(reading.runs).toEqual(['a']);
    await reading.runtime.dispose();
  });

  test('waits for a person, and its answer may come from another process', async () => {
    const first = await node(async (calls) => (await calls.call('asked', { key: 'a' })).output);
    const session = await first.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 1);
    const second = await node(() => Promise.resolve(null), { store: first.store, nodeId: 'b' });
    const other = await second.agent.sessions.get('s');
    const [pending] = await other.interactions();
    expect(pending).toMatchObject({ tool: 'asked', input: { key: 'a' } });
    await other.respond({ id: pending?.id ?? '', decision: 'allow', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect(await resultsOf(session)).toMatchObject([{ output: 'value of a' }]);
    await second.runtime.dispose();
    await first.runtime.dispose();
  });

  test('that waits for a person survives its process: the whole is run again and finds the answer', async () => {
    let runs = 0;
    const whole: Whole = async (calls) => {
      runs += 1;
      const before = await calls.call('put', { key: 'x' });
      return [before.output, (await calls.call('asked', { key: 'a' })).output];
    };
    const first = await node(whole);
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(async () => (await facts(first.store, 'ApprovalRequested')).length === 1);
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    const second = await node(whole, { store: first.store, nodeId: 'b' });
    const session = await second.agent.sessions.get('s');
    const [pending] = await session.interactions();
    await session.respond({ id: pending?.id ?? '', decision: 'allow', by: 'ada' });
    const handle = await session.resume();
    await handle?.finished;
    expect(await resultsOf(session)).toMatchObject([{ status: 'completed', output: ['value of x', 'value of a'] }]);
    // What the first run had settled was not done again.
    expect([runs, ...first.runs, ...second.runs]).toEqual([2, 'x', 'a']);
    expect((await second.agent.replay('s')).difference).toBeUndefined();
    await second.runtime.dispose();
  });

  test('ends with its turn, and with its whole', async () => {
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
    const seen: string[] = [];
    const stopped = await node(
      async (calls) => {
        seen.push((await calls.call('slow', {})).status);
        seen.push(await calls.call('read', { key: 'late' }).then(({ status }) => status));
      },
      { others: slow, effect: 'read' },
    );
    const session = await stopped.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await facts(stopped.store, 'ToolCallStarted')).length === 2);
    await turn.stop('enough');
    expect((await turn.finished).status).toBe('cancelled');
    const settled = await facts(stopped.store, 'ToolCallSettled');
    expect(settled.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    await stopped.runtime.dispose();

    let after: Promise<unknown> = Promise.resolve();
    const left = await node(
      (calls) => {
        after = calls.call('slow', {});
        return new Promise((resolve) => setTimeout(resolve, 30)).then(async () => {
          setTimeout(() => (after = calls.call('read', { key: 'z' }).catch((error: unknown) => error)), 50);
          return 'gone';
        });
      },
      { others: slow },
    );
    const other = await left.agent.sessions.create({ sessionId: 's' });
    await other.send('go');
    expect((await facts(left.store, 'ToolCallSettled')).map(({ status }) => status)).toEqual([
      'cancelled',
      'completed',
    ]);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(isPerdureError(await after, 'PERDURE_TOOL_CALL_OVER')).toBe(true);
    expect(left.runs).toEqual([]);
    await left.runtime.dispose();
  });

  test('is one of so many at most, and needs arguments that are JSON', async () => {
    const errors: unknown[] = [];
    const { runtime, agent, runs } = await node(async (calls) => {
      errors.push(await calls.call('read', undefined as never).catch((error: unknown) => error));
      for (let index = 0; index < 260; index++) {
        await calls.call('read', { key: 'same' }).catch((error: unknown) => errors.push(error));
      }
    });
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('go');
    expect(errors.map((error) => isPerdureError(error) && error.code)).toEqual([
      'PERDURE_INPUT_INVALID',
      ...Array.from({ length: 4 }, () => 'PERDURE_TOOL_CALL_LIMIT'),
    ]);
    expect(runs).toHaveLength(256);
    await runtime.dispose();
  });
});

test('a part of a call that is given up is settled with it, once; a later result is told as late [P3]', async () => {
  let end = (): void => undefined;
  const deaf: Tools = {
    deaf: { inputSchema: z.object({}), execute: () => new Promise((resolve) => (end = () => resolve('at last'))) },
  };
  const whole: Whole = async (calls) => (await calls.call('deaf', {})).status;
  const { runtime, agent, store } = await node(whole, { others: deaf, effect: 'once' });
  const session = await agent.sessions.create({ sessionId: 's' });
  const turn = await session.prompt('go');
  await waitUntil(async () => (await facts(store, 'ToolCallStarted')).length === 2);
  expect(await session.cancelAndSettle({ graceMs: 10, abortGraceMs: 5_000 })).toMatchObject({ outcome: 'aborted' });
  expect((await turn.finished).status).toBe('cancelled');
  end();
  await waitUntil(async () => (await facts(store, 'LateResultReported')).length === 1);
  const settled = await facts(store, 'ToolCallSettled');
  expect(settled.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
  expect(new Set(settled.map(({ callId }) => callId)).size).toBe(2);
  expect((await agent.replay('s')).difference).toBeUndefined();
  await runtime.dispose();
});
