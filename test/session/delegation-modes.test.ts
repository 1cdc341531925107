import { afterEach, describe, expect, test } from 'vitest';
import type { PayloadOf } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { policyApproval } from '@perdure/policy-approval';
import { policyPermission } from '@perdure/policy-permission';
import { createTestRuntime } from '@perdure/core/testing';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { toolsDelegate } from '@perdure/tools-delegate';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { factsIn } from '../fixtures/budgets.js';
import { childrenOf, handOn } from '../fixtures/delegating.js';
import { waitUntil } from '../fixtures/wait-until.js';

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

const put = (key: string) => ({ calls: [{ name: 'put', input: { key } }] });

/** Work that comes to a halt in a call, and tries another one behind it; `deep` hands such work on first. */
const script =
  (background: boolean): Script =>
  ({ lastUserText, toolResultsSince: { length } }) => {
    if (lastUserText === 'root' && length === 0) return { calls: [handOn(['work', 'deep'], { background })] };
    if (lastUserText === 'deep' && length === 0) return { calls: [handOn(['below'])] };
    if (lastUserText === 'late' && length === 0) return { calls: [handOn(['direct'])] };
    if (lastUserText === 'direct' && length === 0) return put('direct');
    if ((lastUserText === 'work' || lastUserText === 'below') && length < 2) {
      return length === 0 ? { calls: [{ name: 'slow', input: {} }] } : put(lastUserText);
    }
    return { text: 'done' };
  };

async function node(background: boolean, store: EventStore = new MemoryEventStore(), nodeId = 'a') {
  const releases: (() => void)[] = [];
  const runs: string[] = [];
  const slow = {
    inputSchema: z.object({}),
    effect: 'read' as const,
    execute: () => new Promise((resolve) => releases.push(() => resolve('late'))),
  };
  const runtime = await createTestRuntime({
    plugins: [
      storesWith(store),
      { plugin: policyPermission, config: { allow: ['task', 'slow'] } },
      { plugin: policyApproval, config: { mode: 'always-allow' } },
      toolsDelegate,
    ],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  open.push(runtime);
  const model = new ScriptedModel(script(background));
  const agent = runtime.agent({ id: 'clerk', model, tools: { slow, put: lookupTool(runs, 'once') } });
  await agent.ready();
  const release = (): void => releases.splice(0).forEach((each) => each());
  return { agent, store, runs, release, halted: () => releases.length };
}

const typed = async (store: EventStore, id: string, type: string): Promise<readonly unknown[]> =>
  (await factsIn(store, `session-_.${id}`)).filter((fact) => fact.type === type).map(({ payload }) => payload);
const decisionsOf = async (store: EventStore, id: string): Promise<readonly string[]> =>
  ((await typed(store, id, 'ToolCallDecided')) as PayloadOf<'ToolCallDecided'>[]).map(({ decision }) => decision);

/** The sessions that work at the bottom: one below the root, one below that one's sibling. */
async function workersOf(store: EventStore): Promise<readonly string[]> {
  const [work, deep] = await childrenOf(store, 's');
  const [below] = await childrenOf(store, deep?.childId ?? '');
  return [work?.childId ?? '', below?.childId ?? ''];
}

describe('an approval mode that becomes stricter', () => {
  test('binds the sessions below that are at work from their next step on, and those that come later', async () => {
    const { agent, store, runs, release, halted } = await node(true);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('root');
    await waitUntil(() => halted() === 2);
    expect(await (await session.set({ approvals: 'deny' })).finished).toEqual({ success: true });
    const workers = await workersOf(store);
    for (const id of workers) {
      const cap = { kind: 'approvals', mode: 'deny', cap: true };
      expect(await typed(store, id, 'ChangeRequested')).toMatchObject([{ change: cap }]);
      // Whoever sets the mode of one of them cannot lift it.
      await (await agent.sessions.get(id)).set({ approvals: 'always-allow' });
    }
    release();
    await waitUntil(async () => (await typed(store, 's', 'ChildEnded')).length === 2);
    for (const id of workers) {
      expect(await decisionsOf(store, id)).toEqual(['allow', 'deny']);
      expect((await (await agent.sessions.get(id)).info()).approvals).toBe('deny');
      expect((await agent.replay(id)).difference).toBeUndefined();
    }
    expect((await session.send('late')).success).toBe(true);
    const late = (await childrenOf(store, 's')).at(-1);
    expect(late?.profile.approvals).toBe('deny');
    expect(await decisionsOf(store, late?.childId ?? '')).toEqual(['deny']);
    const [bound = ''] = workers;
    const fork = await agent.sessions.fork(bound, { sessionId: 'f' });
    expect((await fork.governedTool('put', { key: 'fork' })).status).toBe('denied');
    expect(runs).toEqual([]);
    // What lets the session do more again binds them as before.
    await (
      await session.set({ approvals: 'always-allow' })
    ).finished;
    expect(await typed(store, bound, 'ChangeRequested')).toHaveLength(2);
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('reaches those that a call waits for while it waits, long before the step of the session ends', async () => {
    const { agent, store, runs, release, halted } = await node(false);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('root');
    await waitUntil(() => halted() === 2);
    const change = await session.set({ approvals: 'deny' });
    const workers = await workersOf(store);
    for (const id of workers) await waitUntil(async () => (await typed(store, id, 'ChangeRequested')).length === 1);
    release();
    expect((await turn.finished).success).toBe(true);
    expect(await change.finished).toEqual({ success: true });
    for (const id of workers) expect(await decisionsOf(store, id)).toEqual(['allow', 'deny']);
    expect(runs).toEqual([]);
  });

  test('binds those that another node runs', async () => {
    const store = new MemoryEventStore();
    const first = await node(true, store);
    const session = await first.agent.sessions.create({ sessionId: 's' });
    await session.send('root');
    await waitUntil(() => first.halted() === 2);
    await session.close();
    const second = await node(true, store, 'b');
    const again = await second.agent.sessions.get('s');
    expect(await (await again.set({ approvals: 'deny' })).finished).toEqual({ success: true });
    first.release();
    await waitUntil(async () => (await typed(store, 's', 'ChildEnded')).length === 2);
    for (const id of await workersOf(store)) expect(await decisionsOf(store, id)).toEqual(['allow', 'deny']);
    expect([...first.runs, ...second.runs]).toEqual([]);
  });
});
