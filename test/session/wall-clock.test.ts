import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 2, 1);

const asking: Script = {
  rules: [
    { when: { toolResults: 0 }, answer: { calls: [{ name: 'ask', input: { key: 'a' } }] } },
    { answer: { text: 'done' } },
  ],
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Passes on all nodes alike, whatever their clocks say. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

function place() {
  const stores = storesWith(new MemoryEventStore(), new MemoryProjectionStore());
  const began = performance.now();
  return { stores, passed: () => performance.now() - began };
}

/** A node whose wall clock can be set. */
async function node({ stores, passed }: ReturnType<typeof place>, nodeId: string) {
  const runs: string[] = [];
  let offset = 0;
  const clock = { now: () => START + passed() + offset };
  const runtime = await createTestRuntime({
    plugins: [stores, governedBy(() => ({ decision: 'ask' }), { expiresInMs: 30 * MINUTE })],
    env: { nodeId, clock },
    waitingGraceMs: 10,
    keepsSessions: true,
  });
  const tools = { ask: lookupTool(runs, 'once') };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(asking), tools });
  await agent.ready();
  const answers = async () => {
    const { facts } = await runtime.services.store.read('session-_.s');
    return facts
      .filter(({ type }) => type === 'ApprovalResolved')
      .map(({ payload, metadata }) => {
        const { decision, by } = JSON.parse(payload) as { readonly decision: string; readonly by: string };
        return { decision, by, time: (JSON.parse(metadata) as { readonly time: number }).time };
      });
  };
  return { runtime, agent, runs, answers, jump: (ms: number) => (offset += ms) };
}

/** A session of node `a` that waits for somebody, for half an hour. */
async function waiting(common = place()) {
  const a = await node(common, 'a');
  const session = await a.agent.sessions.create({ sessionId: 's' });
  const turn = await session.prompt('go');
  await pass(MINUTE);
  expect(await session.interactions()).toHaveLength(1);
  return { ...a, session, turn };
}

describe('the end of what waits for people is a time of the world, as the clock of each node says it', () => {
  test('a clock that is set forward past it makes its node answer, as nobody did', async () => {
    const { runtime, turn, runs, answers, jump } = await waiting();
    jump(HOUR);
    await pass(MINUTE);
    expect(await answers()).toMatchObject([{ decision: 'deny', by: 'expiry' }]);
    expect(await turn.finished).toMatchObject({ status: 'completed', text: 'done' });
    expect(runs).toEqual([]);
    await runtime.dispose();
  });

  test('a clock that is set back makes its node wait, and be in time when it is right again', async () => {
    const { runtime, turn, runs, answers, jump } = await waiting();
    jump(-HOUR);
    await pass(40 * MINUTE);
    expect(await answers()).toEqual([]);
    jump(HOUR);
    await pass(MINUTE);
    expect(await answers()).toMatchObject([{ decision: 'deny', by: 'expiry' }]);
    expect((await turn.finished).status).toBe('completed');
    expect(runs).toEqual([]);
    await runtime.dispose();
  });

  test('another node whose clock is right answers in time, once', async () => {
    const common = place();
    const a = await waiting(common);
    const b = await node(common, 'b');
    a.jump(-HOUR);
    await pass(28 * MINUTE);
    expect(await b.answers()).toEqual([]);
    await pass(3 * MINUTE);
    const [answer, ...more] = await b.answers();
    expect(answer).toMatchObject({ decision: 'deny', by: 'expiry' });
    expect(answer?.time).toBeGreaterThanOrEqual(START + 30 * MINUTE);
    expect(more).toEqual([]);
    a.jump(2 * HOUR);
    await pass(5 * MINUTE);
    expect(await b.answers()).toHaveLength(1);
    expect((await a.turn.finished).status).toBe('completed');
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('an answer at a node whose clock is past it comes too late', async () => {
    const { runtime, session, turn, runs, answers, jump } = await waiting();
    const [asked] = await session.interactions();
    jump(HOUR);
    const late = (error: unknown): boolean => isPerdureError(error, 'PERDURE_INTERACTION_EXPIRED');
    const answer = session.respond({ id: asked?.id ?? '', decision: 'allow', by: 'ada' });
    await expect(answer).rejects.toSatisfy(late);
    await pass(MINUTE);
    expect(await answers()).toMatchObject([{ decision: 'deny', by: 'expiry' }]);
    expect((await turn.finished).status).toBe('completed');
    expect(runs).toEqual([]);
    await runtime.dispose();
  });
});
