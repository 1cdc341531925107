import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { sessionStream, type PayloadOf } from '@perdure/events';
import type { EventStore, TurnResult } from '@perdure/plugin-api';
import { readBudget, setBudget } from '@perdure/policy-budget';
import { factsIn, usedTokens } from '../fixtures/budgets.js';
import { forkNode, type ForkedNode } from '../fixtures/forked-node.js';
import { BILLED, MAX_OUTPUT, startBudgetNode, type BudgetNodeRequest } from './budget-node.fixture.js';

const program = new URL('budget-node.fixture.ts', import.meta.url);
const folders = mkdtempSync(join(tmpdir(), 'perdure-budget-'));
const nodes = new Set<ForkedNode<BudgetNodeRequest>>();
const runtimes: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.dispose();
  for (const node of nodes) await node.kill();
  nodes.clear();
});
afterAll(() => rmSync(folders, { recursive: true, force: true }));

const LIMIT = 100_000;
/** By how much a call may come to more than it held: what its request was longer than estimated. */
const ESTIMATE_ERROR = 400;

/** A root with a limit, in this process, and nodes that work for it in their own. */
async function tree(nodeIds: readonly string[], callMs: number) {
  const folder = mkdtempSync(join(folders, 'run-'));
  const here = await startBudgetNode({ folder, nodeId: 'root', callMs });
  runtimes.push(here.runtime);
  const { store } = here.runtime.services;
  await here.agent.sessions.create({ sessionId: 'root' });
  await setBudget(store, { id: 'root' }, { tokens: LIMIT });
  const started = await Promise.all(
    nodeIds.map((nodeId) => forkNode<BudgetNodeRequest>(program, { folder, nodeId, callMs })),
  );
  for (const node of started) nodes.add(node);
  return { ...here, store, nodes: started };
}

/** When each session was answered last and refused its next call, and when its turn ended. */
async function endsOf(store: EventStore, sessions: readonly string[]) {
  return Promise.all(
    sessions.map(async (id) => {
      const facts = await factsIn(store, sessionStream({ id }));
      const denied = facts.find(({ type }) => type === 'ModelCallDenied');
      const answeredAt = facts.findLast(({ type }) => type === 'ModelAnswered')?.time ?? 0;
      const ended = facts.findLast(({ type }) => type === 'RunEnded');
      return {
        id,
        answeredAt,
        deniedAt: denied?.time,
        ended: ended?.payload as PayloadOf<'RunEnded'>,
        endedAt: ended?.time ?? 0,
      };
    }),
  );
}

async function expectCapped(store: EventStore, sessions: readonly string[]): Promise<void> {
  const ends = await endsOf(store, sessions);
  for (const { ended } of ends) {
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
  }
  const met = Math.min(...ends.map(({ deniedAt = Number.POSITIVE_INFINITY }) => deniedAt));
  // What a session holds when the limit is met it may still use; behind that nobody waits.
  for (const { endedAt, answeredAt } of ends) expect(endedAt - Math.max(met, answeredAt)).toBeLessThan(1_000);
}

describe('a budget of 100,000 tokens for sessions in three processes [P10]', () => {
  test('is kept, met in children and grandchildren, and all who wait for more end within a second', async () => {
    const {
      store,
      nodes: [a, b, c],
    } = await tree(['a', 'b', 'c'], 30);
    const results = await Promise.all([
      a?.ask<TurnResult[]>({ do: 'send', sessions: [{ sessionId: 'a', parent: 'root' }] }),
      b?.ask<TurnResult[]>({ do: 'send', sessions: [{ sessionId: 'b', parent: 'root' }] }),
      (async () => {
        await exists(store, 'a');
        return c?.ask<TurnResult[]>({
          do: 'send',
          sessions: [
            { sessionId: 'c', parent: 'root' },
            { sessionId: 'c/grandchild', parent: 'a' },
          ],
        });
      })(),
    ]);
    expect(results.flat().map((result) => result?.error?.code)).toEqual(Array(4).fill('PERDURE_BUDGET_EXHAUSTED'));
    const sessions = ['a', 'b', 'c', 'c/grandchild'];
    await expectCapped(store, sessions);
    const used = await usedTokens(store, sessions);
    expect(used).toBeLessThanOrEqual(LIMIT + sessions.length * ESTIMATE_ERROR);
    // Less than one more call of one session was left.
    expect(used).toBeGreaterThan(LIMIT - sessions.length * (BILLED.totalTokens + MAX_OUTPUT));
    await waitFor(async () => (await readBudget(store, { id: 'root' })).reservations.length === 0);
    expect(await readBudget(store, { id: 'a' })).toMatchObject({ root: 'root', spent: { tokens: used } });
  });

  test('is kept when one of them is killed in a call, and its successor counts that call', async () => {
    const {
      store,
      nodes: [a, b],
    } = await tree(['a', 'b'], 100);
    void a?.ask({ do: 'send', sessions: [{ sessionId: 'a', parent: 'root' }] });
    await exists(store, 'a');
    const theirs = b?.ask<TurnResult[]>({
      do: 'send',
      sessions: [
        { sessionId: 'b', parent: 'root' },
        { sessionId: 'b/grandchild', parent: 'a' },
      ],
    });
    const answers = async (): Promise<number> => usedTokens(store, ['a']);
    await waitFor(async () => (await answers()) >= 2 * BILLED.totalTokens);
    await waitFor(async () => {
      const last = (await factsIn(store, sessionStream({ id: 'a' }))).at(-1);
      return last?.type === 'StepStarted';
    });
    await a?.kill();
    const left = (await readBudget(store, { id: 'root' })).reservations.filter(({ sessionId }) => sessionId === 'a');
    expect(left).toHaveLength(1);
    const orphaned = { sessionId: 'a', parent: 'root', deadNode: 'a' };
    const resumed = await b?.ask<TurnResult[]>({ do: 'resume', sessions: [orphaned] });
    expect([...(resumed ?? []), ...((await theirs) ?? [])].map(({ error }) => error?.code)).toEqual(
      Array(3).fill('PERDURE_BUDGET_EXHAUSTED'),
    );
    const sessions = ['a', 'b', 'b/grandchild'];
    const used = await usedTokens(store, sessions);
    await waitFor(async () => (await readBudget(store, { id: 'root' })).reservations.length === 0);
    const { spent } = await readBudget(store, { id: 'root' });
    // What the killed process was asking for was paid for and is in no session: it counts by its estimate.
    const lost = spent.tokens - used;
    expect(lost).toBeGreaterThan(BILLED.totalTokens - ESTIMATE_ERROR);
    expect(lost).toBeLessThan(BILLED.totalTokens + MAX_OUTPUT + ESTIMATE_ERROR);
    expect(spent.tokens).toBeLessThanOrEqual(LIMIT + (sessions.length + 1) * ESTIMATE_ERROR);
  });
});

function exists(store: EventStore, id: string): Promise<void> {
  return waitFor(async () => (await store.read(sessionStream({ id }), { limit: 1 })).facts.length > 0);
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
