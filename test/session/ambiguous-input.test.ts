import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { faultyEventStore, ScriptedModel } from '@perdure/testing';
import { expect, test } from 'vitest';
import { AbsentStore } from '../fixtures/absent-store.js';
import { allowing, storesWith } from '../fixtures/agents.js';

/** A session on a store; the model answers each prompt once. */
async function sessionOn(store: EventStore) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId: 'a' } });
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel({ rules: [{ answer: { text: 'done' } }] }) });
  await agent.ready();
  return { runtime, session: await agent.sessions.create({ sessionId: 's' }) };
}

async function acceptedPrompts(store: EventStore): Promise<readonly string[]> {
  const { facts } = await store.read('session-_.s');
  return facts
    .filter(({ type }) => type === 'PromptAccepted')
    .map(({ payload }) => (JSON.parse(payload) as { readonly promptId: string }).promptId);
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; data: Readonly<Record<string, unknown>> }> {
  try {
    await work;
  } catch (error) {
    return error as { code: string; data: Readonly<Record<string, unknown>> };
  }
  throw new Error('it did not fail');
}

/** A store that goes away once, at the first prompt. */
function leavingAtPrompt(kept: EventStore, side: 'before' | 'behind'): AbsentStore {
  let hasLeft = false;
  const leave = (types: readonly string[], line: AbsentStore): void => {
    if (hasLeft || !types.includes('PromptAccepted')) return;
    hasLeft = true;
    line.leave();
  };
  const stay = (): void => undefined;
  return new AbsentStore(kept, side === 'before' ? leave : stay, side === 'behind' ? leave : stay);
}

test.concurrent.each([
  ['may be stored', 'behind', 'PERDURE_STORE_AMBIGUOUS', 1],
  ['is certainly not stored', 'before', 'PERDURE_STORE_UNAVAILABLE', 0],
] as const)('a prompt that %s says so, and the same id again is one turn [P2]', async (_, side, code, stored) => {
  const kept = new MemoryEventStore();
  const store = leavingAtPrompt(kept, side);
  const { runtime, session } = await sessionOn(store);
  expect(await failureOf(session.prompt({ query: 'go', promptId: 'p' }))).toMatchObject({
    code,
    entry: { retryable: true },
  });
  expect(await acceptedPrompts(kept)).toHaveLength(stored);
  store.comeBack();
  const turn = await session.prompt({ query: 'go', promptId: 'p' });
  expect(await turn.finished).toMatchObject({ status: 'completed' });
  expect(await acceptedPrompts(kept)).toEqual(['p']);
  await runtime.dispose();
});

test.concurrent('whoever gave no id is told the one that the prompt has [P2]', async () => {
  const kept = new MemoryEventStore();
  const store = leavingAtPrompt(kept, 'behind');
  const { runtime, session } = await sessionOn(store);
  const { code, data } = await failureOf(session.prompt('go'));
  expect(code).toBe('PERDURE_STORE_AMBIGUOUS');
  const [promptId] = await acceptedPrompts(kept);
  expect(data['promptId']).toBe(promptId);
  store.comeBack();
  await (
    await session.prompt({ query: 'go', promptId: String(promptId) })
  ).finished;
  expect(await acceptedPrompts(kept)).toEqual([promptId]);
  await runtime.dispose();
});

test.concurrent.each([true, false])(
  'what becomes known in time is no failure; stored at first: %s [P2]',
  async (stored) => {
    const kept = new MemoryEventStore();
    const lost = {
      verb: 'append',
      match: 'PromptAccepted',
      fault: 'ambiguous',
      occurrence: 1,
      times: 2,
      stored,
    } as const;
    const { runtime, session } = await sessionOn(faultyEventStore(kept, [lost]));
    await (
      await session.prompt({ query: 'go', promptId: 'p' })
    ).finished;
    expect(await acceptedPrompts(kept)).toEqual(['p']);
    await runtime.dispose();
  },
);
