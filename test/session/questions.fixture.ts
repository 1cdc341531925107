import { createTestRuntime } from '@perdure/core/testing';
import type { Question } from '@perdure/events';
import {
  type EventStore,
  type PermissionDecision,
  type QuestionSet,
  type Session,
  type Tools,
} from '@perdure/plugin-api';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';

export const place: Question = {
  kind: 'single-select',
  id: 'place',
  prompt: 'Where to?',
  options: [
    { value: 'home', label: 'Home' },
    { value: 'away', label: 'Away' },
  ],
};
export const call = (name: string, key: string) => ({ name, input: { key } });
export const calling = (...calls: ReturnType<typeof call>[]): Script => ({
  rules: [{ when: { toolResults: 0 }, answer: { calls } }, { answer: { text: 'done' } }],
});

/** What a node of these tests is made of beside its tools. */
export interface Setup {
  readonly script?: Script;
  readonly nodeId?: string;
  readonly set?: Partial<QuestionSet>;
  readonly tools?: Tools;
  readonly decide?: (tool: string) => PermissionDecision;
  readonly mode?: 'ask' | 'always-allow' | 'deny';
}

/** A node with a tool that asks, `where`, and others by what the rules say of them. */
export async function node(store: EventStore, setup: Setup = {}) {
  const { script = calling(call('where', 'a')), nodeId = 'a', set = {}, tools = {}, decide, mode } = setup;
  const runs: string[] = [];
  const open = (tool: string): PermissionDecision =>
    tool === 'free' || tool === 'look' ? { decision: 'allow' } : { decision: 'ask', reason: 'no rule allows it' };
  const governance = governedBy(decide ?? open, { mode: mode ?? 'ask' });
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), governance],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const where = {
    inputSchema: z.object({ key: z.string() }),
    questions: ({ key }: { key: string }) => ({ title: `About ${key}`, questions: [place], ...set }),
  };
  const own = { where, free: lookupTool(runs, 'once'), asked: lookupTool(runs, 'once'), look: lookupTool(runs) };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools: { ...own, ...tools } as Tools });
  await agent.ready();
  return { runtime, agent, runs };
}

export const payloads = async (store: EventStore, type: string) =>
  (await store.read('session-_.s')).facts.filter((fact) => fact.type === type).map((fact) => JSON.parse(fact.payload));
export const types = async (store: EventStore) => (await store.read('session-_.s')).facts.map(({ type }) => type);
export const results = async (session: Session) =>
  (await session.messages()).items.flatMap((message) => (message.role === 'tool' ? message.parts : []));
/** What people are asked, as soon as it is so much. */
export async function waiting(session: Session, count: number) {
  for (;;) {
    const found = await session.interactions();
    if (found.length === count) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
export const ada = { by: 'ada', answers: { place: 'home' } };
