import { afterEach, describe, expect, test } from 'vitest';
import { budgetStream, sessionStream } from '@perdure/events';
import { isPerdureError, type AppendResult, type EventStore } from '@perdure/plugin-api';
import { readBudget, setBudget } from '@perdure/policy-budget';
import { MemoryEventStore } from '@perdure/store-memory';
import { budgetedAgent, factsIn, usedTokens } from '../fixtures/budgets.js';

type Append = EventStore['append'];

/** A store whose appends to budgets go another way. */
function storeWith(
  inner: EventStore,
  append: (again: Append, ...parameters: Parameters<Append>) => ReturnType<Append>,
) {
  const pass: Append = (...parameters) => inner.append(...parameters);
  const through: Append = (stream, ...rest) =>
    stream.startsWith('budget-') ? append(pass, stream, ...rest) : pass(stream, ...rest);
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === 'append') return through;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

const root = { id: 'r' };
const stream = budgetStream(root);
const usage = { inputTokens: 100, outputTokens: 100, totalTokens: 200 };
const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});
async function budgeted(store: EventStore) {
  const made = await budgetedAgent(() => ({ text: 'done', usage }), { maxOutputTokens: 200 }, {}, store);
  open.push(made.runtime);
  return made;
}

describe('the stream of a budget [P10]', () => {
  test('takes each batch once, however often it is not known whether it was stored', async () => {
    const inner = new MemoryEventStore();
    const seen = new Map<string, number>();
    const store = storeWith(inner, async (append, to, facts, options): Promise<AppendResult> => {
      const result = await append(to, facts, options);
      const times = (seen.get(facts[0]?.id ?? '') ?? 0) + 1;
      seen.set(facts[0]?.id ?? '', times);
      return times < 3 ? { status: 'ambiguous', cause: 'no answer' } : result;
    });
    const { agent } = await budgeted(store);
    const session = await agent.sessions.create({ sessionId: 'r' });
    await setBudget(store, root, { tokens: 100_000 });
    expect((await session.send('go')).success).toBe(true);
    await session.close();
    expect((await factsIn(inner, stream)).map(({ type }) => type)).toEqual([
      'BudgetLimitSet',
      'BudgetReserved',
      'BudgetSettled',
    ]);
    expect([...seen.values()].every((times) => times === 3)).toBe(true);
  });

  test('is decided anew behind a conflict, and keeps the limit, with sessions of many runtimes at once', async () => {
    const store = new MemoryEventStore();
    const first = await budgeted(store);
    await first.agent.sessions.create({ sessionId: 'r' });
    await setBudget(store, root, { tokens: 4_000 });
    const ids = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const results = await Promise.all(
      ids.map(async (sessionId) => {
        const { agent } = await budgeted(store);
        const session = await agent.sessions.create({ sessionId, parent: 'r' });
        const codes: (string | undefined)[] = [];
        for (let turn = 0; turn < 5; turn++) codes.push((await session.send('go')).error?.code);
        await session.close();
        return codes;
      }),
    );
    expect(new Set(results.flat())).toEqual(new Set([undefined, 'PERDURE_BUDGET_EXHAUSTED']));
    const used = await usedTokens(store, ids);
    expect(used).toBeLessThanOrEqual(4_000);
    expect(used).toBeGreaterThan(2_500);
    expect(await readBudget(store, root)).toMatchObject({ spent: { tokens: used }, held: { tokens: 0 } });
  });

  test('that is always written by someone else first is given up, and the call is denied', async () => {
    const inner = new MemoryEventStore();
    let rivals = 0;
    const store = storeWith(inner, async (append, ...parameters) => {
      rivals++;
      await setBudget(inner, root, { tokens: 100_000 + rivals });
      return append(...parameters);
    });
    const { agent, model } = await budgeted(store);
    const session = await agent.sessions.create({ sessionId: 'r' });
    await setBudget(inner, root, { tokens: 100_000 });
    await expect(setBudget(store, root, { tokens: 1 })).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_STORE_CONTENDED') && error.data['tries'] === 20,
    );
    const refused = await session.send('go');
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(refused.error?.message).toContain('20 tries');
    expect(model.calls).toEqual([]);
  });

  test('that was changed or holds what this build does not know is not drawn on', async () => {
    const inner = new MemoryEventStore();
    const store = storeWith(inner, (append, to, facts, options) =>
      append(
        to,
        facts.map((fact) => ({ ...fact, payload: fact.payload.replace('100000', '900000') })),
        options,
      ),
    );
    const { agent, model } = await budgeted(inner);
    const session = await agent.sessions.create({ sessionId: 'r' });
    await setBudget(store, root, { tokens: 100_000 });
    const refused = await session.send('go');
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(model.calls).toEqual([]);
    await expect(readBudget(inner, root)).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_CHAIN_BROKEN'));
    // The session itself is whole.
    expect((await factsIn(inner, sessionStream(root))).at(-1)?.type).toBe('RunEnded');
  });
});
