import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createTestRuntime } from '@perdure/core/testing';
import {
  definePlugin,
  isPerdureError,
  WORKSPACE_ENV,
  type AgentOptions,
  type EventStore,
  type ToolContext,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const ofWorkspace = definePlugin({
  name: 'workspace-env',
  api: 1,
  version: '1.0.0',
  config: z.object({}),
  provides: [WORKSPACE_ENV],
  setup: ({ provide }) => {
    provide(WORKSPACE_ENV, { variables: () => ({ FROM: 'workspace', KEY: 'secret://KEY' }) });
    return {};
  },
});

/** A node whose tool tells what variables it sees, and waits when it is told to. */
async function node(store: EventStore, options: Partial<AgentOptions> = {}, nodeId = 'a') {
  const seen: (Readonly<Record<string, string>> | undefined)[] = [];
  const look = {
    inputSchema: z.object({}),
    effect: 'read' as const,
    execute: async (_: object, { env, abortSignal }: ToolContext) => {
      seen.push(env);
      if (env?.['WAIT'] !== 'yes') return 'seen';
      return new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(new Error('over'))));
    },
  };
  const plugins = [storesWith(store), allowing, ofWorkspace];
  const runtime = await createTestRuntime({
    plugins,
    env: { nodeId },
    leaseTtlMs: 10_000,
    closeGraceMs: 0,
    keepsSessions: false,
    secrets: { KEY: 'a long value' },
  });
  const model = new ScriptedModel({
    rules: [{ when: { toolResults: 0 }, answer: { calls: [{ name: 'look', input: {} }] } }, { answer: { text: 'ok' } }],
  });
  const agent = runtime.agent({ id: 'clerk', model, tools: { look }, ...options });
  await agent.ready();
  return { runtime, agent, seen };
}

describe('the variables of a session', () => {
  test('are those of its workspace, its agent and its own, and facts hold names and digests alone', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent, seen } = await node(store, { env: { FROM: 'agent', A: 'value of a' } });
    const session = await agent.sessions.create({ sessionId: 's', env: { OWN: 'value of own' } });
    await session.tool('look', {});
    await (
      await session.set({ env: { FROM: 'session', OWN: null } })
    ).finished;
    await session.tool('look', {});
    expect(seen).toEqual([
      { A: 'value of a', FROM: 'agent', KEY: 'a long value', OWN: 'value of own' },
      { A: 'value of a', FROM: 'session', KEY: 'a long value' },
    ]);
    const text = JSON.stringify((await store.read('session-_.s')).facts);
    expect(text).toContain('OWN');
    for (const value of ['value of a', 'value of own', 'a long value']) expect(text).not.toContain(value);
    await expect(session.set({ env: { 'no name': 'x' } })).rejects.toMatchObject({ data: { field: 'env.no name' } });
    await expect(agent.patchEnv({ A: 5 as never })).rejects.toMatchObject({ code: 'PERDURE_INPUT_INVALID' });
    await runtime.dispose();
  });

  test('are given again where the session goes on, or it does not, unless it is told to', async () => {
    const store = new MemoryEventStore();
    const a = await node(store);
    const session = await a.agent.sessions.create({ sessionId: 's', env: { WAIT: 'yes', OWN: 'x' } });
    await session.prompt('go');
    await waitUntil(() => a.seen.length === 1);
    await a.runtime.dispose();
    const b = await node(store, {}, 'b');
    const again = await b.agent.sessions.get('s');
    await expect(again.resume()).rejects.toSatisfy(
      (error) =>
        isPerdureError(error, 'PERDURE_NOT_SUPPLIED') && error.data['kind'] === 'env' && error.data['id'] === 'OWN',
    );
    // Another value in the place of one is a change; the same value is the same variable.
    const supplied = await b.agent.sessions.get('s', { env: { OWN: 'x' } });
    await expect(supplied.resume()).rejects.toMatchObject({ data: { kind: 'env', id: 'WAIT' } });
    expect((await (await supplied.resume({ withoutMissing: ['WAIT'] }))?.finished)?.text).toBe('ok');
    expect(b.seen.at(-1)).toMatchObject({ OWN: 'x' });
    const { facts } = await store.read('session-_.s');
    expect(facts.findLast(({ type }) => type === 'RunStarted')?.payload).toContain('"kind":"env","id":"WAIT"');
    expect(facts.filter(({ type }) => type === 'ChangeApplied')).toHaveLength(2);
    await b.runtime.dispose();
  });
});

describe('the handle of a change', () => {
  test('ends when the session is closed before it takes effect; the next owner applies the change once', async () => {
    const store = new MemoryEventStore();
    const a = await node(store);
    const session = await a.agent.sessions.create({ sessionId: 's', env: { WAIT: 'yes' } });
    await session.prompt('go');
    await waitUntil(() => a.seen.length === 1);
    const handle = await session.set({ approvals: 'deny' });
    await session.close();
    expect(await handle.finished).toMatchObject({ success: false, error: { code: 'PERDURE_SESSION_CLOSED' } });
    const b = await node(store, {}, 'b');
    const again = await b.agent.sessions.get('s', { env: { WAIT: 'no' } });
    await (
      await again.resume()
    )?.finished;
    expect((await again.info()).approvals).toBe('deny');
    const { facts } = await store.read('session-_.s');
    const applied = facts.filter(({ type, payload }) => type === 'ChangeApplied' && payload.includes(handle.id));
    expect(applied).toHaveLength(1);
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('follows the stream when another node takes the session over', async () => {
    const store = new MemoryEventStore();
    const a = await node(store);
    const session = await a.agent.sessions.create({ sessionId: 's', env: { WAIT: 'yes' } });
    await session.prompt('go');
    await waitUntil(() => a.seen.length === 1);
    const handle = await session.set({ approvals: 'deny' });
    const b = await node(store, {}, 'b');
    const other = await b.agent.sessions.get('s', { env: { WAIT: 'no' } });
    await (
      await other.resume({ takeOver: true })
    )?.finished;
    expect(await handle.finished).toEqual({ success: true });
    await b.runtime.dispose();
    await a.runtime.dispose();
  });
});
