import { z } from 'zod';
import { createTestRuntime } from '@perdure/core/testing';
import type { RecordedFact } from '@perdure/events';
import { definePlugin, SYSTEM_BLOCKS, type EventStore, type SystemBlockSource, type Tools } from '@perdure/plugin-api';
import { createPermissionPolicy } from '@perdure/policy-permission';
import { PERMISSION } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { deterministicHostEnv, scriptByRound, ScriptedModel } from '@perdure/testing';
import { storesWith } from '../fixtures/agents.js';

/** What an agent of these tests may be changed in. */
export interface Variant {
  readonly blocks?: readonly SystemBlockSource[];
  readonly allow?: readonly string[];
  readonly description?: string;
}

export const blocks: readonly SystemBlockSource[] = [
  { name: 'one', blocks: () => [{ name: 'rule', content: 'Be brief.' }] },
  { name: 'two', blocks: () => [{ name: 'rule', content: 'Be kind.' }] },
];

const script = scriptByRound([
  {
    reasoning: 'two things at once',
    calls: [
      { name: 'peek', input: { key: 'a' } },
      { name: 'peek', input: { key: 'b' } },
    ],
  },
  { text: 'then one more', calls: [{ name: 'put', input: { key: 'c' } }] },
  { calls: [{ name: 'forbidden', input: {} }] },
  { text: 'that is all', deltas: 4 },
]);

/** Tools of which two run at once, each for as long as chance will have it. */
function tools(description: string): Tools {
  const inputSchema = z.object({ key: z.string() });
  return {
    peek: {
      description,
      inputSchema,
      effect: 'read',
      execute: async ({ key }: { key: string }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
        return { seen: key };
      },
    },
    put: {
      description: 'Put.',
      inputSchema,
      effect: 'idempotent',
      execute: ({ key }: { key: string }) => `put ${key}`,
    },
    forbidden: { description: 'Not allowed.', inputSchema: z.object({}), execute: () => 'never' },
  } as Tools;
}

export async function startAgent(store: EventStore, variant: Variant = {}) {
  const policy = createPermissionPolicy({
    allow: [...(variant.allow ?? ['peek', 'put'])],
    deny: [],
    ask: [],
    default: 'ask',
  });
  const governed = definePlugin({
    name: 'governed',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [PERMISSION, SYSTEM_BLOCKS],
    setup: ({ provide }) => {
      provide(PERMISSION, policy);
      for (const source of variant.blocks ?? blocks) provide(SYSTEM_BLOCKS, source);
      return {};
    },
  });
  const runtime = await createTestRuntime({ plugins: [storesWith(store), governed], env: deterministicHostEnv() });
  const agent = runtime.agent({
    id: 'clerk',
    model: new ScriptedModel(script),
    instruction: 'You are a clerk.',
    tools: tools(variant.description ?? 'Look.'),
  });
  await agent.ready();
  return { runtime, agent };
}

/** Two turns, the second with a prompt that joins it. */
export async function record(store: EventStore = new MemoryEventStore()): Promise<readonly RecordedFact[]> {
  const { runtime, agent } = await startAgent(store);
  const session = await agent.sessions.create({ sessionId: 's', tenantId: 'acme' });
  await session.send('do it');
  const second = await session.prompt('again');
  await second.finished;
  await runtime.dispose();
  return (await store.read('session-_.s')).facts;
}
