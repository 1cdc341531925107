import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { definePlugin, TOOLS, type Session } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';

describe('the first fact of a session says what it is, whatever is asked of it first', () => {
  const uses: [string, (session: Session) => Promise<unknown>][] = [
    ['a call of the host', (session) => session.tool('lookup', { key: 'a' })],
    ['a governed call', (session) => session.governedTool('lookup', { key: 'a' })],
    ['an event of the cluster', (session) => session.emit({ type: 'peer_invocation', from_session_id: 'x' })],
    ['a change', async (session) => (await session.set({ model: 'default' })).finished],
    ['a prompt', (session) => session.send('go')],
  ];
  test.each(uses)('%s', async (_, use) => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const model = new ScriptedModel({ rules: [{ answer: { text: 'done' } }] });
    const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() } });
    await agent.ready();
    await agent.sessions.create({ sessionId: 'root' });
    await use(agent.session('', { sessionId: 's', parent: 'root', principal: 'ada' }));
    const [first] = (await store.read('session-_.s')).facts;
    expect(first?.type).toBe('SessionCreated');
    expect(JSON.parse(first?.payload ?? '')).toMatchObject({ agentId: 'clerk', parent: 'root', root: 'root' });
    await runtime.dispose();
  });
});

test('a plugin that fails to start leaves nothing behind of what it provided [R25]', async () => {
  const failing = definePlugin({
    name: 'failing',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [TOOLS],
    setup: ({ provide }) => {
      provide(TOOLS, { name: 'failing', tools: () => ({ left: lookupTool() }) });
      return {
        start: () => {
          throw new Error('no connection');
        },
      };
    },
  });
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing, failing] });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([]), tools: { lookup: lookupTool() } });
  const session = await agent.sessions.create();
  expect((await session.tool('left', { key: 'a' })).failure?.code).toBe('PERDURE_TOOL_UNKNOWN');
  expect((await session.tool('lookup', { key: 'a' })).status).toBe('completed');
  await runtime.dispose();
});

test('an option that an agent does not have is refused, and named', async () => {
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore())] });
  expect(() => runtime.agent({ id: 'clerk', readonly: true } as never)).toThrow('agent.readonly');
  await runtime.dispose();
});

describe('a turn that waits for a person and was let go', () => {
  const approval = governedBy(() => ({ decision: 'ask' }), {});

  async function waiting() {
    const store = new MemoryEventStore();
    const runs: string[] = [];
    const runtime = await createTestRuntime({
      plugins: [storesWith(store, new MemoryProjectionStore()), approval],
      waitingGraceMs: 5,
      keepsSessions: true,
    });
    const model = new ScriptedModel({
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'pay', input: { key: 'a' } }] } },
        { answer: { text: 'done' } },
      ],
    });
    const agent = runtime.agent({ id: 'clerk', model, tools: { pay: lookupTool(runs, 'once') } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt({ query: 'go', runId: 'job-1' });
    while ((await store.read('session-_.s')).facts.at(-1)?.type !== 'OwnershipReleased')
      await new Promise((resolve) => setTimeout(resolve, 5));
    const [asked] = await session.interactions();
    return { runtime, runs, session, turn, id: asked?.id ?? '' };
  }

  test.each<[string, (session: Session) => Promise<unknown>, unknown]>([
    ['its run is cancelled', (session) => session.cancelRun('job-1'), true],
    ['it is cancelled and settled', async (session) => (await session.cancelAndSettle()).outcome, 'settled'],
    ['it is stopped', async (session) => (await session.stop()).stopped, true],
  ])('ends when %s, and an answer comes too late', async (_, end, expected) => {
    const { runtime, runs, session, turn, id } = await waiting();
    expect(await end(session)).toBe(expected);
    expect((await turn.finished).status).toBe('cancelled');
    expect(await session.interactions()).toEqual([]);
    await expect(session.respond({ id, decision: 'allow', by: 'ada' })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_NOT_FOUND',
    });
    expect(runs).toEqual([]);
    await runtime.dispose();
  });
});
