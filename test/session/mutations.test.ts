import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  applyMutation,
  conversationView,
  type EventStore,
  type MessagePage,
  type Mutation,
  type Session,
  type ConversationView,
} from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const call = (key: string, index: number) => ({ name: 'lookup', input: { key }, providerCallId: `call_${index}` });
const script = {
  rules: [
    { when: { userTextContains: 'Summarise the' }, answer: { text: 'the summary' } },
    {
      when: { userTextContains: 'tools', toolResults: 0 },
      answer: { text: 'I look', deltas: 3, calls: [call('a', 0), call('b', 1)] },
    },
    { when: { userTextContains: 'fail' }, times: 1, answer: { text: 'this breaks off', deltas: 4, cutAfter: 3 } },
    { answer: { reasoning: 'let me think', text: 'a long answer of many words', deltas: 6 } },
  ],
};

async function node(store: EventStore, nodeId = 'a', model: ScriptedModel = new ScriptedModel(script)) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId }, leaseTtlMs: 300 });
  const models = { first: model, second: new ScriptedModel(script) };
  const agent = runtime.agent({ id: 'clerk', model: 'first', models, tools: { lookup: lookupTool() } });
  await agent.ready();
  return { runtime, agent };
}

type Move = 'say' | 'tools' | 'fail' | 'steer' | 'stop' | 'compact' | 'model';

async function make(session: Session, move: Move): Promise<void> {
  switch (move) {
    case 'compact':
      await (
        await session.compact()
      ).finished;
      return;
    case 'model':
      await (
        await session.set({ model: 'second', env: { A: 'hush' } })
      ).finished;
      return;
    case 'steer': {
      const turn = await session.prompt('tools');
      await session.prompt('and this');
      await turn.finished;
      return;
    }
    case 'stop': {
      const turn = await session.prompt('tools');
      await turn.stop();
      await turn.finished;
      return;
    }
    default:
      await (
        await session.prompt(move)
      ).finished;
  }
}

/** What a client has that begins at a page and takes in all that comes, until it has come to a place. */
function fold(session: Session, page: MessagePage) {
  let view = conversationView(page);
  const seen: Mutation[] = [];
  const end = session.subscribe(
    (mutation) => {
      seen.push(mutation);
      view = applyMutation(view, mutation);
    },
    { from: page.cursor },
  );
  return { end, seen, view: (): ConversationView => view };
}

async function whole(session: Session): Promise<MessagePage> {
  return session.messages({ limit: 10_000 });
}

/** A session at rest has told all when its last fact, the end of a turn, was told. */
async function untilTold(
  session: Session,
  ...clients: readonly { readonly view: () => ConversationView }[]
): Promise<void> {
  const { cursor } = await session.info();
  await waitUntil(() => clients.every(({ view }) => view().cursor === cursor));
}

describe('the mutations of a session', () => {
  test(
    'lead from the messages of any place to those at the end, whatever happened between [R23]',
    { timeout: 60_000 },
    async () => {
      const move = fc.constantFrom<Move>('say', 'tools', 'fail', 'steer', 'stop', 'compact', 'model');
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 4 }), async (moves) => {
          const { runtime, agent } = await node(new MemoryEventStore());
          const session = await agent.sessions.create();
          const pages = [await whole(session)];
          const live = [fold(session, pages[0] as MessagePage)];
          // A client that comes in the middle of whatever goes on.
          const endOfPages = session.subscribe(async () => {
            const page = await whole(session);
            pages.push(page);
            if (live.length < 6) live.push(fold(session, page));
          });
          for (const each of moves) await make(session, each);
          await make(session, 'say');
          const { items, cursor } = await whole(session);
          await untilTold(session, ...live);
          endOfPages();
          const late = pages.filter((page) => page.cursor !== cursor).map((page) => fold(session, page));
          await untilTold(session, ...late);
          for (const { view, end, seen } of [...live, ...late]) {
            expect(view().messages).toEqual(items);
            expect(view()).toMatchObject({ growing: null, isStale: false });
            expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => index + 1));
            end();
          }
          await runtime.dispose();
        }),
        { numRuns: 6 },
      );
    },
  );

  test('tell of parts, calls, turns, actions and errors, and of what grows before it is stored [R22]', async () => {
    const { runtime, agent } = await node(new MemoryEventStore());
    const session = await agent.sessions.create();
    const { seen, end } = fold(session, await whole(session));
    for (const move of ['tools', 'fail', 'model'] as const) await make(session, move);
    expect((await (await session.set({ model: 'none' })).finished).success).toBe(false);
    await make(session, 'compact');
    await waitUntil(() =>
      seen.some((each) => each.variant === 'action' && each.action === 'compaction' && each.status === 'completed'),
    );
    const states = seen.flatMap((each) =>
      each.variant === 'part' && each.content.type === 'tool' ? [each.content.state] : [],
    );
    expect(states).toEqual(expect.arrayContaining(['input-streaming', 'ready', 'running', 'completed']));
    const actions = seen.flatMap((each) => (each.variant === 'action' ? [`${each.action} ${each.status}`] : []));
    expect(actions).toEqual([
      'model-switched running',
      'env-updated running',
      'model-switched completed',
      'env-updated completed',
      'model-switched running',
      'model-switched failed',
      'compaction running',
      'compaction completed',
    ]);
    const turns = seen.flatMap((each) => (each.variant === 'turn' ? [each.type] : []));
    expect(turns).toEqual(['start', 'finish', 'start', 'finish']);
    expect(seen.some((each) => each.variant === 'error' && each.scope === 'model' && each.recoverable)).toBe(true);
    expect(seen.some((each) => each.variant === 'delta' && each.type === 'reasoning')).toBe(true);
    expect(JSON.stringify(seen)).not.toContain('hush');
    end();
    await runtime.dispose();
  });

  test('go on over the death of an owner in the middle of an answer, for whoever follows [R7]', async () => {
    const store = new MemoryEventStore();
    const half = new ScriptedModel([{ text: 'half of it and no more', deltas: 4, stallAfter: 2 }]);
    const a = await node(store, 'a', half);
    const b = await node(store, 'b');
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const other = await b.agent.sessions.get('s');
    const clients = [fold(session, await whole(session)), fold(other, await whole(other))];
    await session.prompt('say');
    // The draft is stored some time after the answer began to grow, and the other node shows it.
    await waitUntil(() => clients.every(({ view }) => (view().growing?.parts.length ?? 0) > 0));
    const middle = fold(other, await whole(other));
    expect((await (await other.resume({ takeOver: true }))?.finished)?.success).toBe(true);
    const { items } = await whole(other);
    expect(items.map((message) => (message.role === 'assistant' ? message.status : message.role))).toEqual([
      'user',
      'interrupted',
      'complete',
    ]);
    for (const { view, seen, end } of [...clients, middle]) {
      await waitUntil(() => seen.some((each) => each.variant === 'turn' && each.type === 'finish'));
      expect(view().messages).toEqual(items);
      expect(view().isStale).toBe(false);
      end();
    }
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('wait for a slow listener, pass by one that throws, and a gap is mended by beginning again [R23]', async () => {
    const { runtime, agent } = await node(new MemoryEventStore());
    const session = await agent.sessions.create();
    const first = await whole(session);
    const slow: Mutation[] = [];
    const endSlow = session.subscribe(
      async (mutation) => {
        slow.push(mutation);
        await new Promise((resolve) => setTimeout(resolve, 2));
      },
      { from: first.cursor },
    );
    const endThrowing = session.subscribe(() => {
      throw new Error('not I');
    });
    const { seen, end, view } = fold(session, first);
    await make(session, 'tools');
    await untilTold(session, { view });
    const lossy = seen.filter((_, index) => index !== 3).reduce(applyMutation, conversationView(first));
    expect(lossy.isStale).toBe(true);
    const page = await whole(session);
    const again = fold(session, page);
    await make(session, 'say');
    await untilTold(session, again);
    expect(again.view().messages).toEqual((await whole(session)).items);
    const { cursor } = await session.info();
    await waitUntil(() => slow.at(-1)?.cursor === cursor);
    expect(slow.reduce(applyMutation, conversationView(first))).toMatchObject({
      isStale: false,
      messages: again.view().messages,
    });
    for (const each of [end, endSlow, endThrowing, again.end]) each();
    const why = await new Promise((resolve) => session.subscribe(() => undefined, { from: '999999', onEnd: resolve }));
    expect(why).toMatchObject({ code: 'PERDURE_CURSOR_INVALID' });
    const closed = new Promise((resolve) => session.subscribe(() => undefined, { onEnd: resolve }));
    await runtime.dispose();
    expect(await closed).toBeUndefined();
  });
});
