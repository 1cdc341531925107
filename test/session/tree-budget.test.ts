import { afterEach, describe, expect, test } from 'vitest';
import { sessionStream } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import { readBudget, setBudget, type BudgetSetting } from '@perdure/policy-budget';
import type { Script, ScriptedAnswer } from '@perdure/testing';
import { budgetedAgent, factsIn } from '../fixtures/budgets.js';

/** What was held is settled behind the end of the run. */
const settled = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 10_000, interval: 5 });

const usage = { inputTokens: 100, outputTokens: 50, totalTokens: 150 };
const answer: ScriptedAnswer = { text: 'done', usage };
const call = (key: string) => ({ name: 'lookup', input: { key } });
/** Rounds of one tool call each, then an answer. */
const rounds = (count: number): Script => {
  return ({ toolResultsSince: { length } }) => (length < count ? { calls: [call(String(length))], usage } : answer);
};

const open: { dispose(): Promise<void> }[] = [];
async function budgeted(...parameters: Parameters<typeof budgetedAgent>) {
  const made = await budgetedAgent(...parameters);
  open.push(made.runtime);
  return made;
}
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

describe('a tree of sessions with a budget [P10]', () => {
  test('that was never set is not counted: no fact, no bound, no gate', async () => {
    const { agent, model, budgetFacts, store } = await budgeted(rounds(1));
    const session = await agent.sessions.create({ sessionId: 'r' });
    expect((await session.send('go')).success).toBe(true);
    expect(await budgetFacts('r')).toEqual([]);
    expect(model.calls[0]).not.toHaveProperty('maxOutputTokens');
    const decided = (await factsIn(store, 'session-_.r')).find(({ type }) => type === 'ToolCallDecided');
    expect(JSON.stringify(decided)).not.toContain('budget');
  });

  test('holds blocks, settles what was used when the turn ends, and sets the limit of every answer', async () => {
    const { agent, model, budgetFacts, set, read } = await budgeted(rounds(3), { maxOutputTokens: 500 });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 100_000 });
    expect((await session.send('go')).success).toBe(true);
    expect(model.calls.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([500, 500, 500, 500]);
    await session.close();
    expect((await budgetFacts('r')).map(({ type }) => type)).toEqual([
      'BudgetLimitSet',
      'BudgetReserved',
      'BudgetSettled',
    ]);
    await settled(() => read('r')).toMatchObject({
      root: 'r',
      limits: { tokens: 100_000 },
      spent: { tokens: 600, calls: 4 },
      held: { tokens: 0, micros: 0, calls: 0 },
      reservations: [],
    });
  });

  test('ends turns that find no room, asks for shorter answers before that, and passes when it is raised', async () => {
    const { agent, model, set, read } = await budgeted([answer, answer, answer], {
      maxOutputTokens: 500,
      minOutputTokens: 60,
    });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 400 });
    expect((await session.send('one')).success).toBe(true);
    expect((await session.send('two')).success).toBe(true);
    const [first = 0, second = 0] = model.calls.map(({ maxOutputTokens }) => Number(maxOutputTokens));
    expect([first < 400, second < first - 100]).toEqual([true, true]);
    const refused = await session.send('three');
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(refused.error?.message).toContain('tokens');
    await settled(() => read('r')).toMatchObject({ spent: { tokens: 300 }, reservations: [] });
    await set('r', { tokens: 10_000 });
    expect((await session.send('three')).success).toBe(true);
  });

  test('is one for all its sessions, however deep, and no other tree', async () => {
    const { agent, set, read } = await budgeted(rounds(0), { maxOutputTokens: 200 });
    const root = await agent.sessions.create({ sessionId: 'r' });
    const child = await agent.sessions.create({ sessionId: 'c', parent: 'r' });
    const grandchild = await agent.sessions.create({ sessionId: 'g', parent: 'c' });
    const other = await agent.sessions.create({ sessionId: 'o' });
    expect(await grandchild.info()).toMatchObject({ parent: 'c', root: 'r' });
    await set('g', { calls: 3 });
    for (const session of [root, child, grandchild]) expect((await session.send('go')).success).toBe(true);
    for (const session of [root, child, grandchild]) {
      expect(await session.send('go')).toMatchObject({ error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    }
    expect((await other.send('go')).success).toBe(true);
    await settled(() => read('c')).toMatchObject({ root: 'r', spent: { tokens: 450, calls: 3 } });
    await settled(() => read('o')).toMatchObject({ limits: null, spent: { calls: 0 } });
  });

  test('counts calls of tools: the model is told of the first that has no room', async () => {
    const { agent, runs, set, read } = await budgeted(rounds(3));
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { calls: 4 });
    expect(await session.send('go')).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(runs).toEqual(['0', '1']);
    expect(await session.tool('lookup', { key: 'x' })).toMatchObject({
      status: 'denied',
      failure: { code: 'PERDURE_BUDGET_EXHAUSTED' },
    });
    await settled(() => read('r')).toMatchObject({ spent: { calls: 4 } });
    expect((await agent.replay('r')).difference).toBeUndefined();
  });

  test('counts money by the table of prices, and denies what has no price', async () => {
    const prices = { '*scripted*': { input: 1_000_000, output: 4_000_000 } };
    const { agent, set, read } = await budgeted([answer, answer], { prices });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { micros: 1_000_000 });
    expect((await session.send('go')).success).toBe(true);
    await settled(() => read('r')).toMatchObject({ spent: { micros: 300 } });
    const unknown = await budgeted([answer, answer]);
    const other = await unknown.agent.sessions.create({ sessionId: 'r' });
    await unknown.set('r', { micros: 1_000_000 });
    const refused = await other.send('go');
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_PRICE_UNKNOWN' } });
    expect(refused.error?.message).toContain('"default"');
    await unknown.set('r', { micros: null, tokens: 10_000 });
    expect((await other.send('go')).success).toBe(true);
  });

  test('warns once in a turn when the soft part of a limit is reached', async () => {
    const { agent, set, store } = await budgeted(rounds(3), { maxOutputTokens: 200 });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { calls: 10, soft: 0.5 });
    expect((await session.send('go')).success).toBe(true);
    const hits = (await factsIn(store, 'session-_.r')).filter(({ type }) => type === 'BudgetThresholdHit');
    expect(hits.map(({ payload }) => payload)).toMatchObject([{ resource: 'calls', kind: 'soft', limit: 10 }]);
  });

  test('breaks off a call that is under way when its time ends, also when it is shortened from elsewhere', async () => {
    const { agent, set, store, read } = await budgeted([{ text: 'slow', delayMs: 60_000 }, answer]);
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 100_000, seconds: 3_600 });
    const turn = await session.prompt('go');
    while ((await read('r')).reservations.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await setBudget(store, { id: 'r' }, { seconds: 0.05 });
    expect(await turn.finished).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(await session.send('again')).toMatchObject({ error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    // How much of the broken call was made is not known: it counts as a whole.
    expect((await read('r')).spent.tokens).toBeGreaterThan(4_096);
    await set('r', { seconds: null });
    expect((await session.send('again')).success).toBe(true);
  });

  test('ends the wait between two tries when its time ends', async () => {
    const busy = { status: 429, message: 'busy', retryAfter: { seconds: 60 } };
    const { agent, model, set, store, read } = await budgeted([{ error: busy }, answer]);
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 100_000 });
    const turn = await session.prompt('go');
    const failed = async () => (await factsIn(store, 'session-_.r')).some(({ type }) => type === 'ModelCallFailed');
    while (!(await failed())) await new Promise((resolve) => setTimeout(resolve, 5));
    await set('r', { seconds: 0 });
    expect(await turn.finished).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(model.calls).toHaveLength(1);
    await session.close();
    await settled(() => read('r')).toMatchObject({ spent: { tokens: 0 }, held: { tokens: 0 } });
    const hits = (await factsIn(store, 'session-_.r')).filter(({ type }) => type === 'BudgetThresholdHit');
    expect(hits.map(({ payload }) => payload)).toMatchObject([{ resource: 'wall_time', kind: 'hard' }]);
    expect((await agent.replay('r')).difference).toBeUndefined();
  });

  test('gives back what failed calls held, and keeps what stopped calls may have cost', async () => {
    const script: Script = [{ error: { status: 400, message: 'no' } }, { text: 'x', stallAfter: 1 }];
    const { agent, set, read } = await budgeted(script, { maxOutputTokens: 1_000 });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 100_000 });
    expect((await session.send('go')).status).toBe('failed');
    await session.close();
    await settled(() => read('r')).toMatchObject({ spent: { tokens: 0 }, held: { tokens: 0 } });
    const again = await agent.sessions.get('r');
    const turn = await again.prompt('go');
    while ((await read('r')).reservations.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await turn.stop();
    expect((await turn.finished).status).toBe('cancelled');
    await again.close();
    const { spent, held } = await read('r');
    expect([spent.tokens > 1_000, held.tokens]).toEqual([true, 0]);
  });

  test('and the guard of the host both must allow; what the host denies holds nothing', async () => {
    const { agent, model, set, read } = await budgeted([answer, answer], { maxOutputTokens: 300 });
    const session = await agent.sessions.create({ sessionId: 'r' });
    await set('r', { tokens: 100_000 });
    session.setBudgetGuard({ checkBeforeLlm: () => ({ decision: 'deny', resource: 'mine', reason: 'no' }) });
    expect((await session.send('go')).error?.message).toContain('mine');
    await settled(() => read('r')).toMatchObject({ spent: { tokens: 0 }, reservations: [] });
    session.setBudgetGuard({ checkBeforeLlm: () => ({ decision: 'allow', maxOutputTokens: 120 }) });
    expect((await session.send('go')).success).toBe(true);
    expect(model.calls.at(-1)?.maxOutputTokens).toBe(120);
    session.setBudgetGuard(null);
    await set('r', { tokens: 10 });
    expect((await session.send('go')).error?.code).toBe('PERDURE_BUDGET_EXHAUSTED');
  });
});

describe('the place of a session in its tree', () => {
  test('is recorded when it is made, and never changes', async () => {
    const { agent, store } = await budgeted(rounds(0));
    await agent.sessions.create({ sessionId: 'r' });
    await agent.sessions.create({ sessionId: 'c', parent: 'r' });
    const [created] = await factsIn(store, sessionStream({ id: 'c' }));
    expect(created?.payload).toMatchObject({ parent: 'r', root: 'r' });
    const refused = (field: string) => (error: unknown) =>
      isPerdureError(error, 'PERDURE_SESSION_CONFIGURATION') && error.data['field'] === field;
    await expect(agent.sessions.create({ parent: 'nobody' })).rejects.toSatisfy(refused('parent'));
    await expect(agent.sessions.create({ sessionId: 'x', parent: 'x' })).rejects.toSatisfy(refused('parent'));
    await expect(agent.sessions.get('c', { parent: 'x' })).rejects.toSatisfy(refused('parent'));
    await expect(agent.sessions.get('r', { parent: 'c' })).rejects.toSatisfy(refused('parent'));
    await agent.sessions.get('c', { parent: 'r' });
  });

  test('is within its tenant, and so is its budget: another one cannot be named [P17/control]', async () => {
    const a = await budgeted(rounds(0), {}, { tenant: 'a' });
    const b = await budgeted(rounds(0), {}, { tenant: 'b' }, a.store);
    const session = await a.agent.sessions.create({ sessionId: 'r' });
    await expect(b.agent.sessions.create({ parent: 'r' })).rejects.toThrow(/there is no session/);
    await setBudget(a.store, { tenant: 'a', id: 'r' }, { calls: 0 });
    expect((await session.send('go')).error?.code).toBe('PERDURE_BUDGET_EXHAUSTED');
    const sameName = await b.agent.sessions.create({ sessionId: 'r' });
    expect((await sameName.send('go')).success).toBe(true);
    for (const key of [{ id: 'r' }, { tenant: 'c', id: 'r' }, { tenant: 'b', id: 'a.r' }, { id: 'a.r' }]) {
      const missing = (error: unknown) => isPerdureError(error, 'PERDURE_SESSION_NOT_FOUND');
      await expect(readBudget(a.store, key)).rejects.toSatisfy(missing);
      await expect(setBudget(a.store, key, { tokens: 1 })).rejects.toSatisfy(missing);
    }
    expect(await readBudget(a.store, { tenant: 'b', id: 'r' })).toMatchObject({ limits: null });
  });
});

test.each<[string, object]>([
  ['tokens', { tokens: -1 }],
  ['calls', { calls: 1.5 }],
  ['seconds', { seconds: Number.NaN }],
  ['soft', { soft: 2 }],
  ['colour', { colour: 1 }],
])('a limit of %s that is none is refused by its name', async (field, limits) => {
  const { agent, set } = await budgeted(rounds(0));
  await agent.sessions.create({ sessionId: 'r' });
  await expect(set('r', limits as BudgetSetting)).rejects.toSatisfy(
    (error) => isPerdureError(error, 'PERDURE_INPUT_INVALID') && error.data['field'] === field,
  );
});
