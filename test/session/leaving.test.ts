import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { type EventStore, type Tool } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const inputSchema = { type: 'object' } as const;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface NodeOptions {
  /** The tool that the model calls first; none for an answer at once. */
  readonly calls?: 'read' | 'asked' | 'slow';
  readonly expiresInMs?: number;
  readonly slow?: Tool['execute'];
  readonly log?: (text: string) => void;
}

/** A node that looks after sessions, on a store that it may share. A person is asked about the tool `asked`. */
async function node(store: EventStore, nodeId: string, options: NodeOptions = {}) {
  const { calls, expiresInMs, log } = options;
  const governance = governedBy(
    (tool) => ({ decision: tool === 'asked' ? 'ask' : 'allow' }),
    expiresInMs === undefined ? {} : { expiresInMs },
  );
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, new MemoryProjectionStore()), governance],
    env: { nodeId },
    leaseTtlMs: 300,
    closeGraceMs: 20,
    waitingGraceMs: 20,
    keepsSessions: true,
    ...(log === undefined ? {} : { logger: { log: (_, text) => log(text) } }),
  });
  const untilBroken: Tool['execute'] = (_, { abortSignal }) =>
    new Promise((_resolve, reject) => {
      abortSignal.addEventListener('abort', () => reject(new Error('broken off')));
    });
  const agent = runtime.agent({
    id: 'clerk',
    model: new ScriptedModel({
      rules: [
        { when: { toolResults: 0 }, answer: { calls: calls === undefined ? [] : [{ name: calls, input: {} }] } },
        { answer: { text: 'done' } },
      ],
    }),
    tools: {
      read: { inputSchema, effect: 'read', execute: () => 'read' },
      asked: { inputSchema, effect: 'once', execute: () => 'done' },
      slow: { inputSchema, effect: 'idempotent', execute: options.slow ?? untilBroken },
    },
  });
  await agent.ready();
  return { runtime, agent };
}

const types = async (store: EventStore, id = 's') =>
  (await store.read(`session-_.${id}`)).facts.map(({ type }) => type);
const has = async (store: EventStore, type: string, id = 's') => (await types(store, id)).includes(type);

/** The store with something before each of its appends, which may throw or never come back. */
function before(store: MemoryEventStore, step: (types: readonly string[]) => Promise<void> | void): EventStore {
  return Object.assign(Object.create(store) as EventStore, {
    append: async (...[stream, facts, options]: Parameters<EventStore['append']>) => {
      await step(facts.map(({ type }) => type));
      return store.append(stream, facts, options);
    },
  });
}

/** The store with reads of a session that fail while it is told so. */
function failing(store: MemoryEventStore, id: string, fails: () => boolean): EventStore {
  return Object.assign(Object.create(store) as EventStore, {
    read: (...[stream, options]: Parameters<EventStore['read']>) =>
      stream === `session-_.${id}` && fails()
        ? Promise.reject(new Error('the disk is broken'))
        : store.read(stream, options),
  });
}

describe('the keeper of sessions', () => {
  test('answers the requests of other sessions when one cannot be read, and says so once', async () => {
    const store = new MemoryEventStore();
    let isDamaged = false;
    const logged: string[] = [];
    const { runtime, agent } = await node(
      failing(store, 's0', () => isDamaged),
      'a',
      {
        calls: 'asked',
        expiresInMs: 400,
        log: (text) => logged.push(text),
      },
    );
    const turns = [];
    for (const id of ['s0', 's1', 's2']) {
      turns.push(await (await agent.sessions.create({ sessionId: id })).prompt('go'));
      await waitUntil(() => has(store, 'OwnershipReleased', id));
      isDamaged = true;
    }
    const [, one, two] = turns;
    expect(await one?.finished).toMatchObject({ success: true, text: 'done' });
    expect(await two?.finished).toMatchObject({ success: true, text: 'done' });
    expect(logged.filter((text) => text.includes('expiry'))).toHaveLength(1);
    isDamaged = false;
    expect(await turns[0]?.finished).toMatchObject({ success: true, text: 'done' });
    await runtime.dispose();
  });

  test.each([
    ['cannot be read', true],
    ['is being closed here', false],
  ])('tries again with the session of a dead node that %s at first', async (_, isRead) => {
    const store = new MemoryEventStore();
    let isDead = false;
    const dying = before(store, () => (isDead ? new Promise<void>(() => undefined) : undefined));
    const a = await node(dying, 'a', { calls: 'slow' });
    await (await a.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(() => has(store, 'ToolCallStarted'));
    let failures = 2;
    const damaged = failing(store, 's', () => isRead && isDead && failures-- > 0);
    const b = await node(damaged, 'b', { slow: () => 'fast' });
    const handle = isRead ? undefined : await b.agent.sessions.get('s');
    handle?.registerHook('slow-end', 'session_end', null, { timeoutMs: 5_000 }, () => sleep(1_500));
    await handle?.messages();
    isDead = true;
    await handle?.close();
    await waitUntil(async () => (await types(store)).at(-1) === 'OwnershipReleased');
    expect((await types(store)).at(-2)).toBe('RunEnded');
    await b.runtime.dispose();
  });

  test('goes on with what an earlier process of the same node handed over', async () => {
    const store = new MemoryEventStore();
    const a = await node(store, 'a', { calls: 'slow' });
    await (await a.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(() => has(store, 'ToolCallStarted'));
    await a.runtime.dispose();
    expect((await types(store)).at(-1)).toBe('RunEnded');
    const again = await node(store, 'a', { slow: () => 'fast' });
    await waitUntil(async () => (await types(store)).at(-1) === 'OwnershipReleased');
    await again.runtime.dispose();
  });
});

describe('a session that leaves its node [P18]', () => {
  test.each(['close', 'passivation'])('is released behind a host call that waits for a person: %s', async (how) => {
    const store = new MemoryEventStore();
    const a = await node(store, 'a');
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const call = session.governedTool('asked', {});
    await waitUntil(() => has(store, 'ApprovalRequested'));
    if (how === 'close') await session.close();
    else await session.emit({ type: 'passivation_requested', reason: 'node_drain', graceMs: 20 });
    expect(await call).toMatchObject({ status: 'cancelled' });
    await waitUntil(() => has(store, 'OwnershipReleased'));
    expect((await types(store)).slice(-2)).toEqual(['ToolCallSettled', 'OwnershipReleased']);
    await a.runtime.dispose();
  });

  test('goes on when it is asked to leave before its run began', async () => {
    const store = new MemoryEventStore();
    const b = await node(store, 'b', { calls: 'read' });
    let isAsked = false;
    const slowly = before(store, async (added) => {
      if (isAsked || !added.includes('RunStarted')) return;
      isAsked = true;
      const other = await b.agent.sessions.get('s');
      await other.emit({ type: 'passivation_requested', reason: 'node_drain', graceMs: 20 });
    });
    const a = await node(slowly, 'a', { calls: 'read' });
    await (await a.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(async () => (await types(store)).includes('StepCheckpointed'));
    const seen = await types(store);
    expect(seen.slice(0, seen.indexOf('RunStarted')).filter((type) => type.startsWith('Ownership'))).toEqual([
      'OwnershipTaken',
      'OwnershipReleased',
      'OwnershipTaken',
    ]);
    await Promise.all([a.runtime.dispose(), b.runtime.dispose()]);
  });

  test('is not taken by a close that comes while it is being taken', async () => {
    const store = new MemoryEventStore();
    let close: (() => Promise<void>) | undefined;
    let closed: Promise<void> | undefined;
    const slowly = before(store, async (added) => {
      if (closed !== undefined || !added.includes('OwnershipTaken')) return;
      closed = close?.();
      await sleep(20);
    });
    const a = await node(slowly, 'a', { calls: 'asked' });
    const session = await a.agent.sessions.create({ sessionId: 's' });
    close = () => session.close();
    const turn = await session.prompt('go');
    expect(await turn.finished).toMatchObject({ status: 'suspended' });
    await closed;
    const seen = await types(store);
    expect(seen).toContain('OwnershipTaken');
    expect(['OwnershipReleased', 'RunEnded']).toContain(seen.at(-1));
    await a.runtime.dispose();
  });

  test('is given back by a node on which it failed, and can be used there again', async () => {
    const store = new MemoryEventStore();
    let hasFailed = false;
    const broken = before(store, (added) => {
      if (hasFailed || !added.includes('ToolCallSettled')) return;
      hasFailed = true;
      throw new Error('the disk is full');
    });
    const a = await node(broken, 'a', { calls: 'read' });
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    expect(await turn.finished).toMatchObject({ status: 'suspended', error: { code: 'PERDURE_STORE_UNAVAILABLE' } });
    await waitUntil(() => has(store, 'OwnershipReleased'));
    expect((await types(store)).slice(-2)).toEqual(['RunEnded', 'OwnershipReleased']);
    const again = await session.resume();
    expect(await again?.finished).toMatchObject({ success: true, text: 'done' });
    expect((await a.agent.replay('s')).difference).toBeUndefined();
    await a.runtime.dispose();
  });
});
