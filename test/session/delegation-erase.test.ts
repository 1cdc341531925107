import { afterEach, describe, expect, test } from 'vitest';
import { MemoryEventStore } from '@perdure/store-memory';
import type { Script } from '@perdure/testing';
import { z } from 'zod';
import { factsIn } from '../fixtures/budgets.js';
import { childrenOf, delegating, handOn, resultsOf, type DelegatingOptions } from '../fixtures/delegating.js';
import { waitUntil } from '../fixtures/wait-until.js';

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

const handing =
  (more: object = {}): Script =>
  ({ lastUserText, toolResultsSince: { length } }) => {
    if (lastUserText.startsWith('part')) return { calls: [{ name: 'hang', input: {} }] };
    return lastUserText === 'root' && length === 0
      ? { calls: [handOn(['part 1', 'part 2'], more)] }
      : { text: 'all is done' };
  };

/** A node whose children hang in a call until they are asked to end. */
async function hanging(options: DelegatingOptions, more: object = {}) {
  let hung = 0;
  const hang = {
    inputSchema: z.object({}),
    effect: 'read' as const,
    execute: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        hung += 1;
        abortSignal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  };
  const made = await delegating(handing(more), { ...options, agent: { tools: { hang } } });
  open.push(made.runtime);
  return { ...made, hung: () => hung };
}

const GONE = { status: 'failed', failure: { code: 'PERDURE_SESSION_ERASED' } };

describe('a child that is erased while it works', () => {
  test('has ended for the call that waits for it, with the reason', async () => {
    const { agent, store, hung } = await hanging({});
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('root');
    await waitUntil(() => hung() === 2);
    for (const { childId } of await childrenOf(store, 's')) await agent.sessions.erase(childId);
    expect(await turn.finished).toMatchObject({ success: true, text: 'all is done' });
    expect(await resultsOf(session)).toMatchObject([{ status: 'failed', failure: { data: { tasks: [GONE, GONE] } } }]);
    expect(await session.stop()).toEqual({ stopped: false, turnId: null });
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('does not keep the session from being stopped, when another node erased it', async () => {
    const store = new MemoryEventStore();
    const first = await hanging({ store });
    const session = await first.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('root');
    await waitUntil(() => first.hung() === 2);
    const second = await hanging({ store, nodeId: 'b' });
    const [gone] = await childrenOf(store, 's');
    await second.agent.sessions.erase(gone?.childId ?? '');
    await waitUntil(async () => (await factsIn(store, 'session-_.s')).some(({ type }) => type === 'ChildEnded'));
    expect((await session.stop('enough')).stopped).toBe(true);
    expect((await turn.finished).status).toBe('cancelled');
    const ends = (await factsIn(store, 'session-_.s')).filter(({ type }) => type === 'ChildEnded');
    expect(ends.map(({ payload }) => payload)).toMatchObject([GONE, { status: 'cancelled' }]);
  });

  test('in the background is told of, and a stop passes it by', async () => {
    const { agent, store, hung } = await hanging({}, { background: true });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('root')).success).toBe(true);
    await waitUntil(() => hung() === 2);
    const [gone] = await childrenOf(store, 's');
    await agent.sessions.erase(gone?.childId ?? '');
    await session.stop('enough');
    const ends = async () => (await factsIn(store, 'session-_.s')).filter(({ type }) => type === 'ChildEnded');
    await waitUntil(async () => (await ends()).length === 2);
    const statuses = (await ends()).map(({ payload }) => (payload as { status: string }).status);
    expect(statuses.sort()).toEqual(['cancelled', 'failed']);
    expect((await session.interactions()).length).toBe(0);
  });
});
