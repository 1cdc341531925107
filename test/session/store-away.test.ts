import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestRuntime } from '@perdure/core/testing';
import { leaseStream } from '@perdure/events';
import { isPerdureError, PerdureError, type EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, scriptByRound } from '@perdure/testing';
import { describe, expect, test } from 'vitest';
import { AbsentStore } from '../fixtures/absent-store.js';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const PATIENCE_MS = 100;
const TTL_MS = 300;

async function node(store: EventStore) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    env: { nodeId: 'a' },
    keepsSessions: true,
    storePatienceMs: PATIENCE_MS,
  });
  const calls: string[] = [];
  const model = new ScriptedModel(
    scriptByRound([{ calls: [{ name: 'look', input: { key: 'k' } }] }, { text: 'done' }]),
  );
  const agent = runtime.agent({ id: 'clerk', model, tools: { look: lookupTool(calls) } });
  await agent.ready();
  return { runtime, agent, calls };
}

/** How the last run in the store ended, if one did. */
async function lastEnd(store: EventStore): Promise<string | undefined> {
  const { facts } = await store.read('session-_.s');
  const last = facts.findLast(({ type }) => type === 'RunEnded');
  return last && (JSON.parse(last.payload) as { readonly status: string }).status;
}

describe('a node alone whose store was away for longer than it waits [P1] [P4]', () => {
  test.each([
    ['behind what gave it the session', 'behind', 'OwnershipTaken'],
    ['before a call was settled', 'before', 'ToolCallSettled'],
    ['before the end of the turn', 'before', 'RunEnded'],
  ] as const)('goes on by itself: %s', async (_, side, type) => {
    const kept = new MemoryEventStore();
    let hasLeft = false;
    const leave = (added: readonly string[], line: AbsentStore): void => {
      if (hasLeft || !added.includes(type)) return;
      hasLeft = true;
      line.leave();
    };
    const nothing = (): void => undefined;
    const store = new AbsentStore(kept, side === 'before' ? leave : nothing, side === 'behind' ? leave : nothing);
    const { runtime, agent, calls } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const error = { code: 'PERDURE_STORE_UNAVAILABLE', message: 'The store cannot be used: it is away.' };
    expect(await turn.finished).toMatchObject({ status: 'suspended', error });
    await sleep(2 * PATIENCE_MS);
    store.comeBack();
    await waitUntil(async () => (await lastEnd(kept)) === 'completed');
    expect(calls.length).toBeGreaterThan(0);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });
});

test('an input that a store is away for is told so once, also behind an ambiguous append', async () => {
  const kept = new MemoryEventStore();
  const ambiguous: EventStore['append'] = () => {
    const cause = new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: 'it is away' });
    return Promise.resolve({ status: 'ambiguous', cause });
  };
  const store = new AbsentStore(kept);
  const { runtime, agent } = await node(store);
  const session = await agent.sessions.create({ sessionId: 's' });
  const { append } = store;
  store.append = (stream, ...rest) => (stream === 'session-_.s' ? ambiguous : append)(stream, ...rest);
  await expect(session.prompt('go')).rejects.toMatchObject({
    code: 'PERDURE_STORE_AMBIGUOUS',
    message: expect.stringMatching(/^It may be stored or not: it is away\. To bring it again/) as unknown,
  });
  store.append = append;
  await runtime.dispose();
});

describe('a node whose lease is watched [P4] [P4/nodes]', () => {
  /** The lease of `a`, which is not renewed any more, and a node that watches it. */
  async function watched() {
    const kept = new MemoryEventStore();
    const payload = JSON.stringify({ incarnation: 'first', ttlMs: TTL_MS });
    const sign = { id: randomUUID(), type: 'LeaseRenewed', payload, metadata: '{}' };
    await kept.append(leaseStream('a'), [sign], { expected: 'none' });
    const store = new AbsentStore(kept);
    const runtime = await createTestRuntime({
      plugins: [storesWith(store)],
      env: { nodeId: 'b' },
      leaseTtlMs: TTL_MS,
    });
    const isAlive = () => runtime.services.lease.isAlive('a', 'first');
    return { runtime, store, isAlive };
  }

  test('is not counted as dead by who could not look, and is when it was watched for long enough', async () => {
    const { runtime, store, isAlive } = await watched();
    expect(await isAlive()).toBe(true);
    store.leave();
    await expect(isAlive()).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE'));
    await sleep(2 * TTL_MS);
    store.comeBack();
    expect(await isAlive()).toBe(true);
    await waitUntil(async () => !(await isAlive()));
    await runtime.dispose();
  });

  test('is not counted as dead by who waited for an answer of the store all the time', async () => {
    const { runtime, store, isAlive } = await watched();
    expect(await isAlive()).toBe(true);
    const answer = store.hang();
    const look = isAlive();
    await sleep(2 * TTL_MS);
    answer();
    expect(await look).toBe(true);
    await waitUntil(async () => !(await isAlive()));
    await runtime.dispose();
  });

  test('is not counted as dead by who could not renew its own meanwhile', async () => {
    const { runtime, store, isAlive } = await watched();
    await runtime.join();
    expect(await isAlive()).toBe(true);
    store.leave();
    await sleep(2 * TTL_MS);
    store.comeBack();
    expect(await isAlive()).toBe(true);
    await waitUntil(async () => !(await isAlive()));
    await runtime.dispose();
  });
});
