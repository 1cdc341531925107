import { loadSession, outcomeHash, verifySession } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { sessionStream, type EffectContract } from '@perdure/events';
import type { PluginChoice, Tools } from '@perdure/plugin-api';
import { policyBudget, readBudget, setBudget } from '@perdure/policy-budget';
import { ScriptedModel } from '@perdure/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { governedBy } from '../fixtures/governed-by.js';
import { again } from './storm-load.js';

const CONTRACTS: readonly EffectContract[] = ['read', 'idempotent', 'reconcile', 'once'];

/** What a run came to. */
export interface RunReport {
  readonly outcomeHash: string;
  /** How often each tool had its effect. */
  readonly effects: Readonly<Record<string, number>>;
  readonly settlements: readonly string[];
  readonly spentTokens: number;
}

function countingTools(effects: Record<string, number>): Tools {
  const inputSchema = z.object({ key: z.string() });
  const tool = (name: string, effect: EffectContract) => ({
    inputSchema,
    effect,
    execute: ({ key }: { key: string }) => {
      effects[name] = (effects[name] ?? 0) + 1;
      return `${name} of ${key}`;
    },
    ...(effect === 'reconcile' ? { reconcile: () => Promise.resolve({ status: 'unknown' as const }) } : {}),
  });
  return {
    ...Object.fromEntries(CONTRACTS.map((effect) => [effect, tool(effect, effect)])),
    asked: tool('asked', 'once'),
  };
}

const call = (name: string) => ({ name, input: { key: 'k' } });
const model = () =>
  new ScriptedModel({
    rules: [
      { when: { userTextContains: 'and then' }, answer: { text: 'nothing more', deltas: 3 } },
      { when: { toolResults: 0 }, answer: { text: 'I look', calls: [call('read'), call('idempotent')] } },
      { when: { toolResults: 2 }, answer: { calls: [call('reconcile')] } },
      { when: { toolResults: 3 }, answer: { calls: [call('once')] } },
      { when: { toolResults: 4 }, answer: { calls: [call('asked')] } },
      { answer: { text: 'everything is done', deltas: 3 } },
    ],
  });

let runs = 0;

/**
 * A session from its first fact to its end: calls of each contract, one that a person is asked about, a second turn,
 * all within a budget, in a runtime of its own. Throws when a turn ends otherwise than well, or the stream is not
 * whole.
 */
export async function governedRun(stores: readonly PluginChoice[]): Promise<RunReport> {
  const id = `run${(runs += 1)}`;
  const effects: Record<string, number> = {};
  const runtime = await createTestRuntime({
    plugins: [
      ...stores,
      governedBy((tool) => ({ decision: tool === 'asked' ? 'ask' : 'allow' }), {}),
      { plugin: policyBudget, config: { blockCalls: 2 } },
    ],
    env: { nodeId: `node-${id}` },
    keepsSessions: true,
    leaseTtlMs: 5_000,
    storePatienceMs: 60_000,
  });
  try {
    const { store, facts } = runtime.services;
    const agent = runtime.agent({ id: 'clerk', model: model(), tools: countingTools(effects) });
    await agent.ready();
    const session = await agent.sessions.create({ sessionId: id });
    await again(() => setBudget(store, { id }, { tokens: 1_000_000, calls: 100 }));
    const first = await again(() => session.prompt({ query: 'do it all', promptId: 'p-1' }));
    // Each look reads the stream: a run in which reads fail has no more of them than it needs.
    const asked = () => again(() => session.interactions());
    while ((await asked()).length === 0) await sleep(50);
    for (const { id: call } of await asked())
      await again(() => session.respond({ id: call, decision: 'allow', by: 'ada' }));
    assertEnded(await first.finished);
    const second = await again(() => session.prompt({ query: 'and then', promptId: 'p-2' }));
    assertEnded(await second.finished);
    await session.close();
    await again(() => verifySession(store, { id }));
    const { state } = await again(() => loadSession(store, sessionStream({ id }), facts));
    const { facts: stored } = await again(() => store.read(sessionStream({ id })));
    const settled = stored.filter(({ type }) => type === 'ToolCallSettled');
    return {
      outcomeHash: outcomeHash(state, undefined),
      effects,
      settlements: settled.map(({ payload }) => (JSON.parse(payload) as { status: string }).status),
      spentTokens: (await again(() => readBudget(store, { id }))).spent.tokens,
    };
  } finally {
    await runtime.dispose();
  }
}

function assertEnded(result: { readonly status: string; readonly error?: unknown }): void {
  if (result.status !== 'completed') throw new Error(`a turn ended so: ${JSON.stringify(result)}`);
}
