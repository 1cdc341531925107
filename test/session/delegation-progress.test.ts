import { afterEach, describe, expect, test } from 'vitest';
import type { EventEnvelopeV1 } from '@perdure/events';
import type { Mutation } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import type { Script } from '@perdure/testing';
import { childrenOf, delegating, handOn, type DelegatingOptions } from '../fixtures/delegating.js';
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

/** The root hands on to one that makes some calls, one after the other. */
const script = (calls: number, more: object = {}): Script => {
  return ({ lastUserText, toolResultsSince: { length } }) => {
    if (lastUserText === 'root') return length === 0 ? { calls: [handOn(['one'], more)] } : { text: 'all is done' };
    return length < calls ? { calls: [{ name: 'paced', input: {} }] } : { text: 'one is done' };
  };
};
/** A tool that takes so many milliseconds. */
const paced = (ms: number) => ({
  inputSchema: { type: 'object' },
  effect: 'read' as const,
  execute: () => new Promise((resolve) => setTimeout(() => resolve('four'), ms)),
});

const isOf = (type: string) => (event: EventEnvelopeV1) => event.type === type;
const typesOf = (events: readonly EventEnvelopeV1[]) => events.map(({ type }) => type);

describe('how work that is handed on gets on', () => {
  test('is told to who watches the parent, before its end, and is no fact', async () => {
    const { agent, store } = await node(script(2), { agent: { tools: { paced: paced(150) } } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const mutations: Mutation[] = [];
    const unsubscribe = session.subscribe((mutation) => mutations.push(mutation));
    const live: EventEnvelopeV1[] = [];
    for await (const event of session.stream('root')) live.push(event);
    const [child] = await childrenOf(store, 's');
    const taskId = child?.childId;
    const told = live.filter(isOf('subagent_progress'));
    expect(told.map(({ payload }) => payload)).toMatchObject([
      {
        task_id: taskId,
        session_id: taskId,
        tool_id: child?.delegation.callId,
        agent: 'general',
        status: 'tool_completed',
        metadata: { tool: 'paced', exit_code: 0, output_bytes: 4 },
      },
      { task_id: taskId, status: 'turn_completed', metadata: { turn: 1 } },
      { status: 'tool_completed' },
      { status: 'turn_completed', metadata: { turn: 2 } },
    ]);
    expect(told[0]?.metadata).toMatchObject({ session_id: 's' });
    const types = typesOf(live);
    expect(types.indexOf('subagent_start')).toBeLessThan(types.indexOf('subagent_progress'));
    expect(types.lastIndexOf('subagent_progress')).toBeLessThan(types.indexOf('subagent_end'));

    const tasks = mutations.filter(({ variant }) => variant === 'task');
    expect(tasks).toMatchObject([
      { taskId, agent: 'general', status: 'running', description: 'do one' },
      { taskId, status: 'running', progress: { status: 'tool_completed' } },
      { taskId, progress: { status: 'turn_completed', metadata: { turn: 1 } } },
      { taskId, progress: { status: 'tool_completed' } },
      { taskId, progress: { status: 'turn_completed', metadata: { turn: 2 } } },
      { taskId, status: 'completed', text: 'one is done' },
    ]);
    expect(mutations.map(({ sequence }) => sequence)).toEqual(mutations.map((_, index) => index + 1));
    unsubscribe();

    // Whoever reads later, from a place before or from that of a piece of progress, finds what is stored, all of it.
    const cursor = String(told[1]?.metadata?.['cursor']);
    const behind = live.slice(live.indexOf(told[1] as EventEnvelopeV1) + 1);
    const later: EventEnvelopeV1[] = [];
    for await (const event of session.events({ from: cursor })) {
      later.push(event);
      if (event.type === 'agent_end') break;
    }
    expect(typesOf(later)).toEqual(typesOf(behind).filter((type) => type !== 'subagent_progress'));
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('is told at a bounded rate', async () => {
    const { agent } = await node(script(30), { agent: { tools: { paced: paced(0) } } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const live: EventEnvelopeV1[] = [];
    const begun = performance.now();
    for await (const event of session.stream('root')) live.push(event);
    const pauses = (performance.now() - begun) / 100;
    const told = live.filter(isOf('subagent_progress')).length;
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(2 * (pauses + 1));
  });

  test('is told of work in the background', async () => {
    const { agent } = await node(script(2, { background: true }), { agent: { tools: { paced: paced(150) } } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const live: EventEnvelopeV1[] = [];
    const ending = new AbortController();
    const reading = (async () => {
      for await (const event of session.events({ signal: ending.signal })) live.push(event);
    })();
    await session.send('root');
    await waitUntil(() => live.some(isOf('subagent_end')));
    expect(live.some(isOf('subagent_progress'))).toBe(true);
    ending.abort();
    await reading;
  });

  test('is told where another process does it', async () => {
    const store = new MemoryEventStore();
    const options = { store, agent: { tools: { paced: paced(150) } } };
    const first = await node(script(4), options);
    const second = await node(script(4), { ...options, nodeId: 'b' });
    const session = await first.agent.sessions.create({ sessionId: 's' });
    const live: EventEnvelopeV1[] = [];
    const told = () => live.filter(isOf('subagent_progress')).length;
    const reading = (async () => {
      for await (const event of session.stream('root')) live.push(event);
    })();
    await waitUntil(() => told() > 0);
    // The child goes over to another node while the parent stays here.
    const [child] = await childrenOf(store, 's');
    await (await second.agent.sessions.get(child?.childId ?? '')).resume({ takeOver: true });
    const before = told();
    await reading;
    expect(told()).toBeGreaterThan(before);
    expect(second.model.calls.length).toBeGreaterThan(0);
  });
});
