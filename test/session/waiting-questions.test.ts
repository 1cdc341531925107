import { expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import policyApproval from '@perdure/policy-approval';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const question = { id: 'colour', kind: 'text', question: 'Which colour?' };
const script = {
  rules: [
    {
      when: { toolResults: 0 },
      answer: {
        calls: [
          { name: 'ask_user', input: { questions: [question] } },
          { name: 'lookup', input: { key: 'behind' } },
        ],
      },
    },
    { answer: { text: 'done' } },
  ],
};

/** A node that lets go of sessions that wait at once; its rules allow everything but asking people. */
async function node(store: MemoryEventStore, projections: MemoryProjectionStore, nodeId: string, expiresInMs?: number) {
  const runs: string[] = [];
  const approval = { plugin: policyApproval, config: expiresInMs === undefined ? {} : { expiresInMs } };
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, projections), approval],
    env: { nodeId },
    leaseTtlMs: 300,
    waitingGraceMs: 10,
    keepsSessions: true,
  });
  const tools = { lookup: lookupTool(runs, 'once') };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools });
  await agent.ready();
  return { runtime, agent, runs };
}

const isReleased = async (store: MemoryEventStore): Promise<boolean> =>
  (await store.read('session-_.s')).facts.at(-1)?.type === 'OwnershipReleased';

test('a session that waits for an answer to a question is released, and goes on with it [P18]', async () => {
  const store = new MemoryEventStore();
  const projections = new MemoryProjectionStore();
  const a = await node(store, projections, 'a');
  const session = await a.agent.sessions.create({ sessionId: 's' });
  await (
    await session.set({ approvals: 'always-allow' })
  ).finished;
  const turn = await session.prompt('go');
  await waitUntil(() => isReleased(store));
  expect((await a.agent.sessions.list()).items).toMatchObject([{ status: 'waiting', owner: null }]);
  const b = await node(store, projections, 'b');
  const other = await b.agent.sessions.get('s');
  const [asked] = await other.interactions();
  expect(asked).toMatchObject({ kind: 'question', questions: [{ id: 'colour' }] });
  await other.respond({ id: asked?.id ?? '', answers: { colour: 'red' }, by: 'ada' });
  expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
  expect([...a.runs, ...b.runs]).toEqual(['behind']);
  expect((await a.agent.replay('s')).difference).toBeUndefined();
  await b.runtime.dispose();
  await a.runtime.dispose();
});

test('a question expires in a session that no process has loaded [P18]', async () => {
  const store = new MemoryEventStore();
  const a = await node(store, new MemoryProjectionStore(), 'a', 150);
  const session = await a.agent.sessions.create({ sessionId: 's' });
  await (
    await session.set({ approvals: 'always-allow' })
  ).finished;
  const turn = await session.prompt('go');
  await waitUntil(() => isReleased(store));
  expect(await turn.finished).toMatchObject({ success: true });
  const results = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
  expect(results).toMatchObject([{ failure: { code: 'PERDURE_TOOL_UNANSWERED' } }, { status: 'completed' }]);
  await a.runtime.dispose();
});
