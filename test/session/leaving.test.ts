import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { APPROVAL, definePlugin, PERMISSION, type EventStore, type Tool } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { storesWith } from '../fixtures/agents.js';

const inputSchema = { type: 'object' } as const;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const waitUntil = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await sleep(5);
};

interface NodeOptions {
  /** The tool that the model calls first; none for an answer at once. */
  readonly calls?: 'read' | 'asked' | 'slow';
  readonly expiresInMs?: number;
  readonly slow?: Tool['execute'];
  readonly log?: (text: string) => void;
}

/** A node that looks after sessions, on a store that it shares with others. A person is asked about the tool `asked`. */
async function node(store: EventStore, nodeId: string, options: NodeOptions = {}) {
  const { calls, expiresInMs, log } = options;
  const governance = definePlugin({
    name: 'governance',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [PERMISSION, APPROVAL],
    setup: ({ provide }) => {
      const expiry = expiresInMs === undefined ? {} : { expiresInMs };
      const decide = ({ tool }: { tool: string }) => ({
        decision: tool === 'asked' ? ('ask' as const) : ('allow' as const),
      });
      provide(PERMISSION, { id: 'rules', digest: 'rules', decide });
      provide(APPROVAL, { id: 'approval', digest: 'approval', mode: 'ask', ...expiry });
      return {};
    },
  });
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
    }
    isDamaged = true;
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
