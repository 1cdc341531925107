import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AgentDefinition, Session } from '@perdure/plugin-api';
import type { ApprovalMode, CoreType, GateDecision, JsonValue, PayloadOf } from '@perdure/events';
import { policyApproval } from '@perdure/policy-approval';
import { policyPermission } from '@perdure/policy-permission';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { toolsDelegate } from '@perdure/tools-delegate';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { factsIn } from '../fixtures/budgets.js';
import { childrenOf, handOn } from '../fixtures/delegating.js';

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

const KEYS = ['a', 'b', 'c'] as const;
const TOOLS = ['read', 'write', 'send'] as const;
const probes = TOOLS.flatMap((name) => KEYS.map((key) => ({ name, input: { key } })));

const rule = fc.constantFrom(...TOOLS, '*', ...TOOLS.flatMap((tool) => KEYS.map((key) => `${tool}(${key})`)));
const list = fc.array(rule, { maxLength: 3 });
const fallback = fc.constantFrom('ask' as const, 'deny' as const, 'allow' as const);
const mode = fc.constantFrom<ApprovalMode>('ask', 'always-allow', 'deny');
const rules = fc.record({ allow: list, deny: list, ask: list, default: fallback });
const definition = fc.record(
  {
    readOnly: fc.boolean(),
    tools: fc.subarray([...TOOLS, 'wr*']).map((tools) => [...tools, 'task']),
    permission: rules as fc.Arbitrary<JsonValue>,
    approvals: mode,
  },
  { requiredKeys: [] },
);

/** Agrees to everything that is asked anywhere in the tree, until the turn ends. */
async function agreeTo(session: Session, finished: Promise<unknown>): Promise<void> {
  let isOver = false;
  void finished.then(() => (isOver = true));
  while (!isOver) {
    const asked = await session.interactions();
    await Promise.allSettled(asked.map(({ id }) => session.respond({ id, decision: 'allow', by: 'ada' })));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Tries every call, then hands on to the next level, and ends. */
const trying: Script = ({ lastUserText, toolResultsSince: { length } }) => {
  if (length === 0) return { calls: probes };
  if (length > probes.length || lastUserText === 'level-3') return { text: 'tried' };
  const next = lastUserText === 'level-1' ? 2 : 3;
  return { calls: [handOn([`level-${next}`], {}, `level-${next}`)] };
};

/** 0 where a call was made by itself, 1 where a person was asked, 2 where it was not made. */
const rankOf = ({ decision, gates }: { decision: string; gates: readonly GateDecision[] }): number => {
  if (decision === 'deny') return 2;
  return gates.some(({ gate, rule: by }) => gate === 'approval' && by === 'by ada') ? 1 : 0;
};

async function ranksOf(store: MemoryEventStore, session: string): Promise<readonly number[]> {
  const facts = await factsIn(store, `session-_.${session}`);
  const payloads = <Type extends CoreType>(type: Type) =>
    facts.filter((fact) => fact.type === type).map(({ payload }) => payload as PayloadOf<Type>);
  const decided = new Map(payloads('ToolCallDecided').map((fact) => [fact.callId, rankOf(fact)]));
  // In the order in which they were asked for, whatever was decided first.
  const [first] = payloads('ModelAnswered');
  return (first?.parts ?? []).flatMap((part) => (part.type === 'tool-call' ? [decided.get(part.callId) ?? 2] : []));
}

async function tried(
  root: object,
  levels: readonly Omit<AgentDefinition, 'name' | 'description'>[],
  policyMode: ApprovalMode,
  own: ApprovalMode | undefined,
) {
  const store = new MemoryEventStore();
  const agents = levels.map((level, index) => ({ ...level, name: `level-${index + 2}`, description: 'a level' }));
  const runtime = await createTestRuntime({
    plugins: [
      storesWith(store),
      { plugin: policyPermission, config: root },
      { plugin: policyApproval, config: { mode: policyMode } },
      { plugin: toolsDelegate, config: { agents, builtIn: false } },
    ],
  });
  open.push(runtime);
  const subjects = { permissionSubjects: ({ key }: { key: string }) => [key] };
  const tools = {
    read: { ...lookupTool(), ...subjects },
    write: { ...lookupTool([], 'once'), ...subjects },
    send: { ...lookupTool([], 'idempotent'), ...subjects },
  };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(trying), tools });
  await agent.ready();
  const session: Session = await agent.sessions.create({ sessionId: 's' });
  if (own !== undefined) await (await session.set({ approvals: own })).finished;
  const turn = await session.prompt('level-1');
  await agreeTo(session, turn.finished);
  const [child] = await childrenOf(store, 's');
  const [grandchild] = child === undefined ? [] : await childrenOf(store, child.childId);
  const ids = ['s', child?.childId, grandchild?.childId].filter((id) => id !== undefined);
  const ranks = await Promise.all(ids.map((id) => ranksOf(store, id)));
  for (const id of ids) expect((await agent.replay(id)).difference).toBeUndefined();
  await runtime.dispose();
  return ranks;
}

const RUNS = Number(process.env['PERDURE_PERMISSION_RUNS'] ?? 8);

describe('what a session may do that was handed work', () => {
  test(
    'is never more than what the one above may, whatever both have for rules [P8]',
    { timeout: 120_000 },
    async () => {
      let compared = 0;
      const property = fc.asyncProperty(
        rules,
        fc.tuple(definition, definition),
        mode,
        fc.option(mode, { nil: undefined }),
        async (root, levels, policyMode, own) => {
          // Whether work can be handed on is not what is looked at.
          const handing = { ...root, allow: [...root.allow, 'task'], deny: root.deny.filter((each) => each !== '*') };
          const ask = handing.ask.filter((each) => each !== '*');
          const passed = levels.map((level) => withTask(level));
          const ranks = await tried({ ...handing, ask }, passed, policyMode, own);
          for (const [level, below] of ranks.slice(1).entries()) {
            const above = ranks[level] ?? [];
            expect(below).toHaveLength(above.length);
            for (const [index, rank] of below.entries()) {
              compared += 1;
              expect(rank).toBeGreaterThanOrEqual(above[index] ?? 2);
            }
          }
        },
      );
      await fc.assert(property, { numRuns: RUNS, seed: 7 });
      expect(compared).toBeGreaterThan(RUNS * probes.length);
    },
  );
});

/** A level that may hand on, as far as its own rules say. */
function withTask(level: Omit<AgentDefinition, 'name' | 'description'>): Omit<AgentDefinition, 'name' | 'description'> {
  const { permission } = level;
  if (permission === undefined) return { ...level, readOnly: false };
  const given = permission as { allow: string[]; deny: string[]; ask: string[] };
  const without = (texts: string[]): string[] => texts.filter((each) => each !== '*');
  const passing = { ...given, allow: [...given.allow, 'task'], deny: without(given.deny), ask: without(given.ask) };
  return { ...level, permission: passing };
}
