import { afterEach, describe, expect, test } from 'vitest';
import { sessionStream } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import type { Script } from '@perdure/testing';
import { factsIn } from '../fixtures/budgets.js';
import { childrenOf, delegating, handOn, resultsOf, typesOf, type DelegatingOptions } from '../fixtures/delegating.js';
import { waitUntil } from '../fixtures/wait-until.js';

const open: { dispose(): Promise<void> }[] = [];
async function node(script: Script, options: DelegatingOptions = {}) {
  const made = await delegating(script, options);
  open.push(made.runtime);
  return made;
}
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

/** Hands on what the root is asked, and answers each task by its name. */
const handing = (prompts: readonly string[], more: object = {}): Script => {
  return ({ lastUserText, toolResultsSince }) => {
    if (lastUserText !== 'root') return { text: `${lastUserText} is done` };
    return toolResultsSince.length === 0 ? { calls: [handOn(prompts, more)] } : { text: 'all is done' };
  };
};

describe('work that is handed on', () => {
  test('is a session of its own: begun in the parent first, ended there before the call is', async () => {
    const { agent, store } = await node(handing(['one', 'two', 'three']));
    const session = await agent.sessions.create({ sessionId: 's', principal: 'ada' });
    expect(await session.send('root')).toMatchObject({ success: true, text: 'all is done' });
    const [result] = await resultsOf(session);
    expect(result).toMatchObject({ status: 'completed', output: { status: 'complete', succeeded: 3 } });
    const { tasks = [] } = (result?.output ?? {}) as { tasks?: { id: string; text: string }[] };
    expect(tasks.map(({ text }) => text)).toEqual(['one is done', 'two is done', 'three is done']);
    const started = await childrenOf(store, 's');
    expect(started.map(({ childId }) => childId)).toEqual(tasks.map(({ id }) => id));
    const types = await typesOf(store, 's');
    expect(types.filter((type) => type.startsWith('Child'))).toEqual([
      ...Array.from({ length: 3 }, () => 'ChildStarted'),
      ...Array.from({ length: 3 }, () => 'ChildEnded'),
    ]);
    expect(types.lastIndexOf('ChildEnded')).toBeLessThan(types.indexOf('ToolCallSettled'));
    const [first, second] = await factsIn(store, sessionStream({ id: started[0]?.childId ?? '' }));
    expect(first).toMatchObject({
      type: 'SessionCreated',
      payload: {
        agentId: 'clerk',
        parent: 's',
        root: 's',
        labels: { principal: 'ada' },
        profile: { agent: 'general' },
      },
    });
    expect(second).toMatchObject({ type: 'PromptAccepted', payload: { parts: [{ text: 'one' }] } });
    const child = await agent.sessions.get(started[1]?.childId ?? '');
    expect(await child.info()).toMatchObject({ parent: 's', root: 's', agent: 'general' });
    for (const id of ['s', child.id]) expect((await agent.replay(id)).difference).toBeUndefined();
  });

  test('may fail in part, as far as the call says; then it tells of each', async () => {
    const script = (more: object): Script => {
      const whole = handing(['good', 'bad'], more);
      return (request) =>
        request.lastUserText === 'bad'
          ? { error: { status: 400, message: 'no' } }
          : typeof whole === 'function'
            ? whole(request)
            : {};
    };
    const partly = await node(script({ min_success_count: 1 }));
    const session = await partly.agent.sessions.create({ sessionId: 's' });
    await session.send('root');
    expect(await resultsOf(session)).toMatchObject([
      {
        status: 'completed',
        output: { status: 'partial_failure', succeeded: 1, tasks: [{ status: 'completed' }, { status: 'failed' }] },
      },
    ]);
    const wholly = await node(script({}));
    const other = await wholly.agent.sessions.create({ sessionId: 's' });
    await other.send('root');
    const [failed] = await resultsOf(other);
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'tasks_failed' } });
    expect(failed?.failure?.data).toMatchObject({ tasks: [{ text: 'good is done' }, { status: 'failed' }] });
  });

  test('has limits of depth, width and number, and nothing is begun beyond them', async () => {
    const deep: Script = ({ toolResultsSince }) =>
      toolResultsSince.length === 0 ? { calls: [handOn(['deeper'])] } : { text: JSON.stringify(toolResultsSince) };
    const { agent, store } = await node(deep, { limits: { maxDepth: 2 } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const { text } = await session.send('root');
    expect(text).toContain('2 levels below their root');
    const [child] = await childrenOf(store, 's');
    const [grandchild] = await childrenOf(store, child?.childId ?? '');
    expect(await childrenOf(store, grandchild?.childId ?? '')).toEqual([]);

    const wide = await node(handing(['a', 'b', 'c']), { limits: { maxFanOut: 2 } });
    const other = await wide.agent.sessions.create({ sessionId: 's' });
    await other.send('root');
    expect(await resultsOf(other)).toMatchObject([{ failure: { code: 'PERDURE_CHILD_LIMIT' } }]);
    expect(await childrenOf(wide.store, 's')).toEqual([]);

    const many = await node(handing(['a', 'b']), { limits: { maxTotal: 5 } });
    const third = await many.agent.sessions.create({ sessionId: 's' });
    // What a child was granted and did not use comes back with its end.
    for (let round = 0; round < 3; round++) await third.send('root');
    const codes = (await resultsOf(third)).map(({ status, failure }) => failure?.code ?? status);
    expect(codes).toEqual(['completed', 'completed', 'PERDURE_CHILD_LIMIT']);
    expect(await childrenOf(many.store, 's')).toHaveLength(4);
  });

  test('is handed on by hosts too, in the order of the tasks', async () => {
    const { agent, model } = await node(handing([]));
    const session = await agent.sessions.create({ sessionId: 's' });
    const { success, tasks } = await session.parallel([
      { agent: 'explore', prompt: 'first' },
      { agent: 'general', prompt: 'second', description: 'the second' },
    ]);
    expect(success).toBe(true);
    expect(tasks).toMatchObject([
      { agent: 'explore', text: 'first is done', description: 'first' },
      { agent: 'general', text: 'second is done', description: 'the second' },
    ]);
    const unknown = await session.parallel([{ agent: 'nobody', prompt: 'x' }]).catch((error: unknown) => error);
    expect(unknown).toMatchObject({ code: 'PERDURE_CHILD_AGENT_UNKNOWN' });
    expect(String(unknown)).toContain('There is no agent "nobody"');
    const task = { agent: 'general', prompt: 'x' };
    const many = await session.parallel(Array.from({ length: 33 }, () => task)).catch((error: unknown) => error);
    expect(many).toMatchObject({ code: 'PERDURE_TOOL_INPUT' });
    expect((await agent.sessions.list({ parent: null })).items.map(({ id }) => id)).toEqual([session.id]);
    expect((await agent.sessions.list({ parent: session.id })).items).toHaveLength(2);
    const own = await agent.sessions.create({ agent: 'explore' });
    await own.send('mine');
    const calls = model.calls.map((call) => JSON.stringify(call));
    const told = (prompt: string) => calls.find((call) => call.includes(`"${prompt}"`));
    expect(told('first')).toContain('another agent handed to you');
    expect(told('mine')).not.toContain('handed to you');
    const empty = await session.parallel([]).catch((error: unknown) => error);
    expect(isPerdureError(empty, 'PERDURE_INPUT_INVALID')).toBe(true);
  });
});

describe('work in the background', () => {
  test('comes back as a message at a step boundary, and can be looked at, waited for and stopped', async () => {
    let wait: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (wait = resolve));
    const script: Script = ({ lastUserText, toolResultsSince: { length } }) => {
      if (lastUserText === 'slow') return { calls: [{ name: 'gated', input: {} }] };
      if (lastUserText === 'root')
        return length === 0 ? { calls: [handOn(['slow'], { background: true })] } : { text: 'on' };
      return { text: `seen: ${lastUserText}` };
    };
    const gated = {
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      execute: () => gate.then(() => 'opened'),
    };
    const after: Script = (request) => {
      const isDone = request.lastUserText === 'slow' && request.toolResultsSince.length > 0;
      return isDone ? { text: 'slowly done' } : typeof script === 'function' ? script(request) : {};
    };
    const { agent, store } = await node(after, { agent: { tools: { gated } } });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('root')).text).toBe('on');
    const [started] = await childrenOf(store, 's');
    const id = started?.childId ?? '';
    expect(await resultsOf(session)).toMatchObject([{ output: { tasks: [{ id, status: 'running' }] } }]);
    const looked = await session.tool('tasks', { action: 'list' });
    expect(looked.output).toMatchObject({ tasks: [{ id, status: 'running', background: true }] });
    wait();
    const waited = await session.tool('tasks', { action: 'wait', id });
    expect(waited.output).toMatchObject({ id, status: 'completed', text: 'slowly done' });
    await waitUntil(async () => (await typesOf(store, 's')).includes('ChildEnded'));
    const next = await session.send('and now?');
    expect(next.text).toContain('seen: ');
    const shown = (await session.messages()).items.flatMap(({ role, parts }) => (role === 'user' ? parts : []));
    expect(JSON.stringify(shown)).toContain(`The background task ${id}`);
    expect(JSON.stringify(shown)).toContain('slowly done');
    const again = await session.tool('tasks', { action: 'look', id });
    expect(again.output).toMatchObject({ status: 'completed', text: 'slowly done' });
    const none = await session.tool('tasks', { action: 'look', id: 'nothing' });
    expect(none.failure?.code).toBe('PERDURE_CHILD_UNKNOWN');
    expect((await agent.replay('s')).difference).toBeUndefined();
  });
});

describe('the stop of a turn', () => {
  /** Three levels of two each, the lowest of which never end by themselves. */
  const endless: Script = ({ lastUserText, toolResultsSince: { length } }) => {
    if (lastUserText.startsWith('leaf'))
      return length === 0 ? { calls: [{ name: 'linger', input: {} }] } : { text: 'left' };
    if (length > 0) return { text: 'over' };
    if (lastUserText === 'root') return { calls: [handOn(['mid-1', 'mid-2'])] };
    return { calls: [handOn([`leaf-${lastUserText}-1`, `leaf-${lastUserText}-2`])] };
  };
  const linger = {
    inputSchema: { type: 'object' },
    effect: 'read' as const,
    execute: (_: object, { abortSignal }: { abortSignal: AbortSignal }) =>
      new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(new Error('ended')))),
  };
  const lingering = { agent: { tools: { linger } } };

  async function leavesOf(store: MemoryEventStore) {
    const middle = await childrenOf(store, 's');
    const leaves = await Promise.all(middle.map(({ childId }) => childrenOf(store, childId)));
    return { middle, leaves: leaves.flat() };
  }
  async function atWork(store: MemoryEventStore): Promise<boolean> {
    const { leaves } = await leavesOf(store);
    const types = await Promise.all(leaves.map(({ childId }) => typesOf(store, childId)));
    return types.filter((each) => each.includes('ToolCallStarted')).length === 4;
  }

  test('ends all below it, and the call tells that they were cancelled', async () => {
    const store = new MemoryEventStore();
    const { agent } = await node(endless, { ...lingering, store });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('root');
    await waitUntil(() => atWork(store));
    await turn.stop('enough');
    expect((await turn.finished).status).toBe('cancelled');
    const { middle, leaves } = await leavesOf(store);
    expect([middle.length, leaves.length]).toEqual([2, 4]);
    for (const { childId } of [...middle, ...leaves]) {
      const end = (await factsIn(store, `session-_.${childId}`)).findLast(({ type }) => type === 'RunEnded');
      expect(end?.payload).toMatchObject({ status: 'cancelled' });
    }
    expect((await typesOf(store, 's')).filter((type) => type === 'ChildEnded')).toHaveLength(2);
    expect(await resultsOf(session)).toMatchObject([
      {
        status: 'completed',
        output: { status: 'cancelled', tasks: [{ status: 'cancelled' }, { status: 'cancelled' }] },
      },
    ]);
  });

  test('from another process, too, and where no owner lives any more [P7]', async () => {
    const store = new MemoryEventStore();
    const first = await node(endless, { ...lingering, store });
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('root');
    await waitUntil(() => atWork(store));
    // The first node leaves with everything under way.
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    const second = await node(endless, { ...lingering, store, nodeId: 'b' });
    const session = await second.agent.sessions.get('s');
    await session.stop('enough');
    const { middle, leaves } = await leavesOf(store);
    const isOver = async (id: string): Promise<boolean> => {
      const facts = await factsIn(store, `session-_.${id}`);
      return facts.some(
        ({ type, payload }) => type === 'RunEnded' && (payload as { status: string }).status === 'cancelled',
      );
    };
    await waitUntil(async () => {
      const ids = ['s', ...[...middle, ...leaves].map(({ childId }) => childId)];
      return (await Promise.all(ids.map(isOver))).every(Boolean);
    });
    await waitUntil(async () => (await typesOf(store, 's')).filter((type) => type === 'ChildEnded').length === 2);
  });
});
