import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type ApprovalPolicy, type EventStore, type PermissionDecision } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const call = (name: string, key: string) => ({ name, input: { key } });
const asking: Script = {
  rules: [
    { when: { toolResults: 0 }, answer: { calls: [call('ask', 'a'), call('free', 'b'), call('ask', 'c')] } },
    { answer: { text: 'done' } },
  ],
};

async function node(
  store: EventStore,
  policy: Partial<ApprovalPolicy> = {},
  decide?: () => PermissionDecision,
  nodeId = 'a',
  otherTools: object = {},
) {
  const runs: string[] = [];
  const rules = { current: (tool: string): PermissionDecision => ({ decision: tool === 'ask' ? 'ask' : 'allow' }) };
  const governance = governedBy((tool) => decide?.() ?? rules.current(tool), policy);
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), governance],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const tools = { ask: lookupTool(runs, 'once'), free: lookupTool(runs, 'once'), ...otherTools };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(asking), tools });
  await agent.ready();
  return { runtime, agent, runs, rules };
}

const payloads = async (store: EventStore, type: string) =>
  (await store.read('session-_.s')).facts.filter((fact) => fact.type === type).map((fact) => JSON.parse(fact.payload));

describe('an approval [P9]', () => {
  test('is asked for all calls of an answer together, and each gets its own answer, in either order', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent, runs } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 2);
    const pending = await session.interactions();
    expect(pending).toMatchObject([
      { kind: 'approval', tool: 'ask', input: { key: 'a' }, turnId: turn.id, effect: 'once', expiresAt: null },
      { kind: 'approval', tool: 'ask', input: { key: 'c' } },
    ]);
    // Nothing runs before all are answered: the calls keep their order.
    expect(runs).toEqual([]);
    await session.respond({ id: pending[1]?.id ?? '', decision: 'allow', by: 'ada' });
    expect(await session.interactions()).toHaveLength(1);
    await session.respond({ id: pending[0]?.id ?? '', decision: 'deny', by: 'ada', reason: 'not that one' });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(runs).toEqual(['b', 'c']);
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(results.map(({ status }) => status)).toEqual(['denied', 'completed', 'completed']);
    expect(results[0]?.failure?.message).toContain('not that one');
    expect(await session.interactions()).toEqual([]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('waits for the process to come back, and is answered from any process', async () => {
    const store = new MemoryEventStore();
    const first = await node(store);
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(async () => (await payloads(store, 'ApprovalRequested')).length === 2);
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    const second = await node(store, {}, undefined, 'b');
    const session = await second.agent.sessions.get('s');
    for (const { id } of await session.interactions()) await session.respond({ id, decision: 'allow', by: 'ada' });
    const handle = await session.resume();
    expect(await handle?.finished).toMatchObject({ success: true, text: 'done' });
    expect([...first.runs, ...second.runs]).toEqual(['a', 'b', 'c']);
    await second.runtime.dispose();
  });

  test('is answered once: of many answers from two nodes one counts, and the others learn whose', async () => {
    const store = new MemoryEventStore();
    const a = await node(store);
    const b = await node(store, {}, undefined, 'b');
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 2);
    const [first, second] = await session.interactions();
    const other = await b.agent.sessions.get('s');
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? session : other).respond({ id: first?.id ?? '', decision: 'allow', by: `p${n}` }),
      ),
    );
    const won = answers.findIndex(({ status }) => status === 'fulfilled');
    const lost = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(lost).toHaveLength(49);
    for (const error of lost) {
      expect(isPerdureError(error, 'PERDURE_INTERACTION_ANSWERED') && error.data['by']).toBe(`p${won}`);
    }
    await session.respond({ id: second?.id ?? '', decision: 'allow', by: 'last' });
    expect((await turn.finished).success).toBe(true);
    expect(a.runs.filter((key) => key === 'a')).toHaveLength(1);
    expect(await payloads(store, 'ApprovalResolved')).toHaveLength(2);
    // Also when the step is long over.
    await expect(other.respond({ id: first?.id ?? '', decision: 'deny', by: 'late' })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_ANSWERED',
      data: { by: `p${won}` },
    });
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('that does not fit is refused, and recorded where it named a request', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 2);
    const [pending] = await session.interactions();
    const id = pending?.id ?? '';
    const respond = (response: object) => session.respond(response as never);
    await expect(
      respond({ id, decision: 'allow', by: 'eve', argumentDigest: `${pending?.argumentDigest}0` }),
    ).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_CHANGED',
    });
    await expect(respond({ id: 'other', decision: 'allow', by: 'eve' })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_NOT_FOUND',
    });
    await expect(respond({ id, decision: 'maybe', by: 'eve' })).rejects.toMatchObject({
      data: { field: 'response.decision' },
    });
    await expect(respond({ id, decision: 'allow' })).rejects.toMatchObject({ data: { field: 'response.by' } });
    expect(await payloads(store, 'ApprovalRefused')).toMatchObject([
      { callId: id, by: 'eve', code: 'PERDURE_INTERACTION_CHANGED' },
    ]);
    expect(await session.interactions()).toHaveLength(2);
    await respond({ id, decision: 'allow', by: 'ada', argumentDigest: pending?.argumentDigest });
    await runtime.dispose();
  });

  test('expires by itself, with the answer of the policy', async () => {
    for (const onExpiry of ['deny', 'allow'] as const) {
      const store = new MemoryEventStore();
      const { runtime, agent, runs } = await node(store, { expiresInMs: 30, onExpiry });
      const session = await agent.sessions.create({ sessionId: 's' });
      expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
      expect(runs).toEqual(onExpiry === 'allow' ? ['a', 'b', 'c'] : ['b']);
      expect(await payloads(store, 'ApprovalResolved')).toMatchObject([
        { decision: onExpiry, by: 'expiry', isExpiry: true },
        { decision: onExpiry, by: 'expiry', isExpiry: true },
      ]);
      expect((await agent.replay('s')).difference).toBeUndefined();
      await runtime.dispose();
    }
  });

  test('does not bring back gates that were asked; the rules of the moment can still deny', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent, runs, rules } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    let hooks = 0;
    session.registerHook('rewrite', 'pre_tool_use', { tool: 'ask' }, null, ({ payload }) => {
      hooks += 1;
      return { modified: { args: { key: `${(payload.args as { key: string }).key}!` } } };
    });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 2);
    const pending = await session.interactions();
    expect(pending.map(({ input }) => input)).toEqual([{ key: 'a!' }, { key: 'c!' }]);
    await session.respond({ id: pending[0]?.id ?? '', decision: 'allow', by: 'ada' });
    rules.current = () => ({ decision: 'deny', reason: 'closed for today' });
    await session.respond({ id: pending[1]?.id ?? '', decision: 'allow', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect(hooks).toBe(2);
    expect(runs).toEqual(['a!', 'b']);
    expect((await payloads(store, 'ToolCallDecided')).at(-1)).toMatchObject({
      decision: 'deny',
      input: { key: 'c!' },
      gates: [
        { gate: 'pre_tool_use' },
        { gate: 'approval', decision: 'allow', rule: 'by ada' },
        { gate: 'permission', decision: 'deny' },
      ],
    });
    await runtime.dispose();
  });

  test('does not let a call run that its tool would no longer take', async () => {
    const store = new MemoryEventStore();
    const first = await node(store);
    await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waitUntil(async () => (await payloads(store, 'ApprovalRequested')).length === 2);
    await first.runtime.dispose();
    const strict = { ...lookupTool(first.runs, 'once'), inputSchema: z.object({ key: z.enum(['c']) }) };
    const second = await node(store, {}, undefined, 'b', { ask: strict });
    const session = await second.agent.sessions.get('s');
    for (const { id } of await session.interactions()) await session.respond({ id, decision: 'allow', by: 'ada' });
    const handle = await session.resume();
    expect(await handle?.finished).toMatchObject({ success: true });
    expect([...second.runs, ...first.runs]).toEqual(['b', 'c']);
    const denied = (await payloads(store, 'ToolCallDecided')).filter(({ decision }) => decision === 'deny');
    expect(denied).toMatchObject([
      { gates: [{ gate: 'approval', decision: 'allow' }, { code: 'PERDURE_TOOL_INPUT' }] },
    ]);
    await second.runtime.dispose();
  });

  test.each([
    ['always-allow', 'completed'],
    ['deny', 'denied'],
  ] as const)('is not needed with the mode %s', async (mode, status) => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, { mode });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).success).toBe(true);
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(results[0]?.status).toBe(status);
    expect(await payloads(store, 'ApprovalRequested')).toEqual([]);
    await runtime.dispose();
  });

  test('of a turn that is stopped is not needed any more', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent, runs } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    await waitUntil(async () => (await session.interactions()).length === 2);
    const [pending] = await session.interactions();
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect(runs).toEqual([]);
    expect(await session.interactions()).toEqual([]);
    await expect(session.respond({ id: pending?.id ?? '', decision: 'allow', by: 'ada' })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_NOT_FOUND',
    });
    await runtime.dispose();
  });
});
