import { createTestRuntime } from '@perdure/core/testing';
import { catalogue, isBudgetType, isCoreType, budgetCatalogue, relaySchemas, type ReceivedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { policyBudget, readBudget, setBudget } from '@perdure/policy-budget';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { postgresDatabase, sqlFile, sqliteDatabase, type AnalyticsDatabase } from './analytics-databases.fixture.js';
import { StoreFigures } from './analytics-figures.fixture.js';
import { RunningRelay } from './running-relay.fixture.js';
import { storeFacts } from './store-facts.fixture.js';
import { TopicConsumer } from './topic-consumer.fixture.js';
import { until } from './until.fixture.js';

const brokers = inject('kafkaBrokers');
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

/** A tool that fails for the words that begin with `bad`. */
const fetchTool = {
  description: 'Fetch a page.',
  inputSchema: z.object({ page: z.string() }),
  effect: 'read' as const,
  execute: ({ page }: { readonly page: string }) => {
    if (page.startsWith('bad')) throw new Error(`there is no ${page}`);
    return `text of ${page}`;
  },
};

/** Conversations of one tenant: each prompt names the pages of one step, and the answers take their time. */
interface Work {
  readonly tenant?: string;
  readonly modelId: string;
  /** Milliseconds until the first piece of the answers, in turn. */
  readonly delays: readonly number[];
  readonly sessions: readonly { readonly id: string; readonly budget: boolean; readonly prompts: readonly string[] }[];
}

const works: readonly Work[] = [
  {
    tenant: 'acme',
    modelId: 'large',
    delays: [5, 35, 15],
    sessions: [
      { id: 'a1', budget: true, prompts: ['one bad-two', 'three', ''] },
      { id: 'a2', budget: true, prompts: ['bad-one bad-two four'] },
    ],
  },
  {
    tenant: 'globex',
    modelId: 'small',
    delays: [2, 20],
    sessions: [
      { id: 'g1', budget: true, prompts: ['one two three'] },
      { id: 'g2', budget: false, prompts: ['bad-one', ''] },
    ],
  },
  { modelId: 'small', delays: [1], sessions: [{ id: 'n1', budget: false, prompts: ['unknown-tool'] }] },
];

const prices = { large: { input: 3_000_000, output: 15_000_000 }, small: { input: 250_000, output: 1_000_000 } };

function scriptOf(delays: readonly number[]): Script {
  let calls = 0;
  return ({ lastUserText, toolResultsSince }) => {
    const delayMs = delays[calls++ % delays.length] ?? 0;
    const usage = { inputTokens: 100 + 7 * calls, outputTokens: 20 + calls };
    const pages = lastUserText.split(' ').filter((page) => page !== '' && page !== 'go');
    if (toolResultsSince.length > 0 || pages.length === 0) return { text: 'That is all.', delayMs, usage };
    return {
      delayMs,
      usage,
      calls: [
        ...pages.map((page) => ({ name: page === 'unknown-tool' ? 'lost' : 'fetch', input: { page } })),
        { name: 'lookup', input: { key: pages.join() } },
      ],
    };
  };
}

/** Real sessions of several tenants in one store, until all of their costs are settled. */
async function runSessions(store: EventStore): Promise<void> {
  for (const { tenant, modelId, delays, sessions } of works) {
    const runtime = await createTestRuntime({
      plugins: [storesWith(store), allowing, { plugin: policyBudget, config: { prices } }],
    });
    const model = new ScriptedModel(scriptOf(delays), { modelId });
    const tools = { fetch: fetchTool, lookup: lookupTool() };
    const agent = runtime.agent({ id: 'clerk', model, tools, ...(tenant === undefined ? {} : { tenant }) });
    await agent.ready();
    for (const { id, budget, prompts } of sessions) {
      const session = await agent.sessions.create({ sessionId: id });
      if (budget) await setBudget(store, { tenant, id }, { micros: 100_000_000 });
      for (const prompt of prompts) expect((await session.send(`go ${prompt}`)).success).toBe(true);
      await session.close();
      // Settled behind the end of the turn.
      if (budget) await expect.poll(() => readBudget(store, { tenant, id })).toMatchObject({ reservations: [] });
    }
    await runtime.dispose();
  }
}

async function loaded(database: AnalyticsDatabase, messages: readonly ReceivedFact[]): Promise<AnalyticsDatabase> {
  undo.push(() => database.close());
  // In pieces, and once more from the middle, as a reader does that was stopped before it kept its state.
  const middle = Math.floor(messages.length / 2);
  await database.load(messages.slice(0, middle + 10));
  await database.load(messages.slice(middle));
  return database;
}

/** A message is as the published schemas say, and what the fact says as that of its type. */
function expectToFit({ type, value }: ReceivedFact): void {
  expect(relaySchemas['fact-message.v1'].strict().parse(value)).toEqual(value);
  const definition = isCoreType(type) ? catalogue[type] : isBudgetType(type) ? budgetCatalogue[type] : undefined;
  const payload: unknown = JSON.parse(value.fact?.payload ?? 'null');
  expect(definition?.schema.parse(payload)).toEqual(payload);
}

describe.skipIf(brokers.length === 0)('relayed facts in a database', () => {
  test('[P13/kafka] the example queries give the figures of the store', async () => {
    const store = new MemoryEventStore();
    await runSessions(store);
    const stored = await storeFacts(store);
    const count = [...stored.values()].reduce((sum, facts) => sum + facts.length, 0);
    const relay = new RunningRelay(store, { brokers: [...brokers] });
    undo.push(() => relay.stop());
    await relay.caughtUp();
    const consumer = await TopicConsumer.start(brokers, relay.names.facts);
    undo.push(() => consumer.stop());
    await until(
      () => consumer.count >= count,
      () => consumer.count,
    );
    const messages = [...consumer.facts.values()].flat();
    for (const message of messages) expectToFit(message);
    const figures = new StoreFigures(stored);
    const expected = {
      'cost-by-tenant': figures.costByTenant(),
      'tool-failure-rate': figures.toolFailureRate(),
      'time-to-first-token': figures.timeToFirstToken(),
    };
    expect(expected['cost-by-tenant'].map(({ tenant }) => tenant)).toEqual(['acme', 'globex', null]);
    expect(expected['tool-failure-rate']).toMatchObject([
      { tool_name: 'fetch', completed: 6, failed: 4 },
      { tool_name: 'lookup', completed: 6, failed: 0 },
      { tool_name: 'lost' },
    ]);
    expect(expected['time-to-first-token'].map(({ model_id }) => model_id)).toEqual(['large', 'small']);
    for (const open of [sqliteDatabase, postgresDatabase]) {
      const database = await loaded(await open(), messages);
      expect(await database.query('select count(*) as facts from perdure_facts')).toEqual([{ facts: count }]);
      for (const [name, rows] of Object.entries(expected)) {
        expect(await database.query(sqlFile(name)), `${open.name} ${name}`).toEqual(rows);
      }
    }
  });
});
