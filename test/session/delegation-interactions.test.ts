import { afterEach, describe, expect, test } from 'vitest';
import { isPerdureError, type PerdureError } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import type { Script } from '@perdure/testing';
import { delegating, handOn, resultsOf, type DelegatingOptions } from '../fixtures/delegating.js';
import { lookupTool } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

const open: { dispose(): Promise<void> }[] = [];
async function node(script: Script, options: DelegatingOptions = {}) {
  const governance = governedBy((tool) => ({ decision: tool === 'put' ? 'ask' : 'allow' }), {});
  const made = await delegating(script, { governance, ...options });
  open.push(made.runtime);
  return made;
}
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.dispose();
});

/** The root hands on to one that hands on; the lowest asks for a call that needs a person, and a question. */
const script: Script = ({ lastUserText, toolResultsSince: { length } }) => {
  if (lastUserText === 'root') return length === 0 ? { calls: [handOn(['middle'])] } : { text: 'all is done' };
  if (lastUserText === 'middle') return length === 0 ? { calls: [handOn(['low'])] } : { text: 'passed on' };
  if (length === 0) return { calls: [{ name: 'put', input: { key: 'x' } }] };
  return length === 1 ? { calls: [{ name: 'where', input: {} }] } : { text: 'put there' };
};
const where = {
  inputSchema: { type: 'object' },
  questions: () => ({ questions: [{ kind: 'text' as const, id: 'place', prompt: 'Where to?' }] }),
};

describe('what people are asked below a session [P9]', () => {
  test('is shown at its root with the session that asks, and is answered there from any process', async () => {
    const store = new MemoryEventStore();
    const puts: string[] = [];
    const put = {
      inputSchema: { type: 'object' },
      execute: ({ key }: { key: string }) => {
        puts.push(key);
        return 'put';
      },
    };
    const options = { store, agent: { tools: { put, where } } };
    const { agent } = await node(script, options);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('root');
    await waitUntil(async () => (await session.interactions()).length === 1);
    const [asked] = await session.interactions();
    expect(asked).toMatchObject({ kind: 'approval', tool: 'put', input: { key: 'x' } });
    expect(asked?.childId).toMatch(/^child_/);
    const child = await agent.sessions.get(asked?.childId ?? '');
    const [own] = await child.interactions();
    expect(own).toMatchObject({ id: asked?.id, tool: 'put' });
    expect(own).not.toHaveProperty('childId');

    const second = await node(script, { ...options, nodeId: 'b' });
    const other = await second.agent.sessions.get('s');
    const id = asked?.id ?? '';
    await other.respond({ id, decision: 'allow', by: 'ada' });
    await waitUntil(async () => (await other.interactions()).some(({ kind }) => kind === 'question'));
    // The child is at work, and the call that was asked about is over.
    const early = await session.respond({ id, decision: 'deny', by: 'bob' }).catch((error: unknown) => error);
    expect((early as PerdureError).data).toMatchObject({ by: 'ada', decision: 'allow' });
    const [question] = await other.interactions();
    expect(question?.childId).toBe(asked?.childId);
    await other.respond({ id: question?.id ?? '', answers: { place: 'home' }, by: 'ada' });
    expect(await turn.finished).toMatchObject({ success: true, text: 'all is done' });
    expect(puts).toEqual(['x']);
    expect(await resultsOf(session)).toMatchObject([{ output: { tasks: [{ text: 'passed on' }] } }]);
    expect(await session.interactions()).toEqual([]);
    const late = await session.respond({ id, decision: 'deny', by: 'bob' }).catch((error: unknown) => error);
    expect(isPerdureError(late, 'PERDURE_INTERACTION_ANSWERED')).toBe(true);
    expect((late as PerdureError).data).toEqual({ interaction: id, by: 'ada', decision: 'allow' });
    const answers = { id: question?.id ?? '', answers: { place: 'away' }, by: 'bob' };
    const later = await other.respond(answers).catch((error: unknown) => error);
    expect((later as PerdureError).data).toEqual({ interaction: answers.id, by: 'ada', decision: 'answers given' });
    const unknown = await session
      .respond({ id: 'nothing', decision: 'deny', by: 'bob' })
      .catch((error: unknown) => error);
    expect(isPerdureError(unknown, 'PERDURE_INTERACTION_NOT_FOUND')).toBe(true);
  });

  test('waits without its process: both are gone, and a person answers what the child asks', async () => {
    const store = new MemoryEventStore();
    const tools = { put: lookupTool([], 'once'), where };
    const { agent, runtime } = await node(script, { store, agent: { tools } });
    const turn = await (await agent.sessions.create({ sessionId: 's' })).prompt('root');
    const session = await agent.sessions.get('s');
    await waitUntil(async () => (await session.interactions()).length === 1);
    await runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    const second = await node(script, { store, nodeId: 'b', agent: { tools } });
    const again = await second.agent.sessions.get('s');
    const [approval] = await again.interactions();
    expect(approval).toMatchObject({ kind: 'approval', tool: 'put' });
    await again.respond({ id: approval?.id ?? '', decision: 'deny', by: 'ada' });
    const handle = await again.resume();
    await waitUntil(async () => (await again.interactions()).some(({ kind }) => kind === 'question'));
    const [question] = await again.interactions();
    await again.respond({ id: question?.id ?? '', answers: { place: 'home' }, by: 'ada' });
    expect(await handle?.finished).toMatchObject({ success: true, text: 'all is done' });
  });
});
