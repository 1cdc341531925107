import { afterEach, describe, expect, test } from 'vitest';
import type { EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import type { Script } from '@perdure/testing';
import { factsIn } from '../fixtures/budgets.js';
import { childrenOf, delegating, handOn, typesOf } from '../fixtures/delegating.js';
import { waitUntil } from '../fixtures/wait-until.js';

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

const script: Script = ({ lastUserText, toolResultsSince: { length } }) => {
  if (lastUserText !== 'root') return { text: `${lastUserText} is done` };
  return length === 0 ? { calls: [handOn(['one', 'two'])] } : { text: 'all is done' };
};

/** The store of a process that comes to a halt right before it makes the stream of a child. */
function halting(store: MemoryEventStore) {
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let halted = 0;
  const halts: EventStore = new Proxy(store, {
    get: (target, name) => {
      if (name !== 'append') {
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return async (...given: Parameters<EventStore['append']>) => {
        const [stream, facts] = given;
        if (stream.includes('child_') && facts[0]?.type === 'SessionCreated') {
          halted += 1;
          await gate;
        }
        return target.append(...given);
      };
    },
  });
  return { store: halts, goOn: () => goOn(), halted: () => halted };
}

describe('a stop between the two appends that make a child', () => {
  test('from another process is the first fact of the child, and whoever comes late finds it stopped', async () => {
    const shared = new MemoryEventStore();
    const halt = halting(shared);
    const first = await delegating(script, { store: halt.store });
    open.push(first.runtime);
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('root');
    await waitUntil(() => halt.halted() === 2);
    const children = await childrenOf(shared, 's');
    expect(children).toHaveLength(2);

    const second = await delegating(script, { store: shared, nodeId: 'b' });
    open.push(second.runtime);
    await (await second.agent.sessions.get('s')).stop('enough');
    for (const { childId } of children) {
      expect(await typesOf(shared, childId)).toEqual(['SessionCreated', 'StopRequested']);
    }
    halt.goOn();
    expect((await turn.finished).status).toBe('cancelled');
    for (const { childId, profile } of children) {
      const facts = await factsIn(shared, `session-_.${childId}`);
      expect(facts.filter(({ type }) => type === 'PromptAccepted' || type === 'RunStarted')).toEqual([]);
      // It can be asked something else, and is as narrow as it was to be.
      expect(facts[0]?.payload).toMatchObject({ parent: 's', profile });
    }
    expect(first.model.calls).toHaveLength(1);
    const ends = (await factsIn(shared, 'session-_.s')).filter(({ type }) => type === 'ChildEnded');
    expect(ends.map(({ payload }) => (payload as { status: string }).status)).toEqual(['cancelled', 'cancelled']);
    expect((await second.agent.replay('s')).difference).toBeUndefined();
  });

  test('where the process is gone, work that was not stopped is made by whoever goes on, once', async () => {
    const shared = new MemoryEventStore();
    const halt = halting(shared);
    const first = await delegating(script, { store: halt.store });
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('root');
    await waitUntil(() => halt.halted() === 2);
    const second = await delegating(script, { store: shared, nodeId: 'b' });
    open.push(second.runtime);
    const session = await second.agent.sessions.get('s');
    const handle = await session.resume({ takeOver: true });
    expect(await handle?.finished).toMatchObject({ success: true, text: 'all is done' });
    const children = await childrenOf(shared, 's');
    expect(children).toHaveLength(2);
    const before = await Promise.all(children.map(({ childId }) => typesOf(shared, childId)));
    halt.goOn();
    open.push(first.runtime);
    expect((await turn.finished).status).toBe('completed');
    // The first process finds that they are there, and that they have ended.
    await first.runtime.dispose();
    const after = await Promise.all(children.map(({ childId }) => typesOf(shared, childId)));
    expect(after.map((types) => types.filter((type) => type === 'RunStarted' || type === 'PromptAccepted'))).toEqual(
      before.map((types) => types.filter((type) => type === 'RunStarted' || type === 'PromptAccepted')),
    );
    expect(second.model.calls).toHaveLength(3);
  });
});
