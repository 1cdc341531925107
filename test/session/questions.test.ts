import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { storesWith } from '../fixtures/agents.js';
import { ada, call, node, payloads, place, results, calling, types, waiting } from './questions.fixture.js';

describe('a question [P9]', () => {
  test('is a fact before it is shown, needs no approval, and its answers are the output of its call', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    const told: unknown[] = [];
    session.registerHook('tell', 'on_confirmation', null, null, ({ payload }) => void told.push(payload));
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    expect(question).toMatchObject({
      kind: 'question',
      tool: 'where',
      input: { key: 'a' },
      turnId: turn.id,
      title: 'About a',
      questions: [place],
      expiresAt: null,
    });
    await session.respond({ id: question?.id ?? '', argumentDigest: question?.argumentDigest ?? '', ...ada });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(await results(session)).toMatchObject([{ status: 'completed', output: { answers: { place: 'home' } } }]);
    expect(await types(store)).not.toContain('ToolCallStarted');
    expect(await payloads(store, 'ToolCallDecided')).toMatchObject([
      { decision: 'allow', hasQuestions: true, gates: [{ gate: 'approval', rule: 'it asks by itself' }] },
    ]);
    expect(told).toMatchObject([
      { confirmation_type: 'question', message: 'About a', interaction_id: question?.id, options: ['Home', 'Away'] },
    ]);
    const wire: string[] = [];
    for await (const { type } of session.events()) {
      wire.push(type);
      if (type === 'agent_end') break;
    }
    expect(wire.slice(wire.indexOf('user_question'))).toEqual(
      expect.arrayContaining(['user_question', 'question_answered', 'tool_end']),
    );
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('waits for the process to come back, and is answered from a process that runs nothing', async () => {
    const store = new MemoryEventStore();
    const first = await node(store);
    const turn = await (await first.agent.sessions.create({ sessionId: 's' })).prompt('go');
    await waiting(await first.agent.sessions.get('s'), 1);
    expect((await first.agent.sessions.list()).items[0]?.status).toBe('running');
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    // Without the tool: the answer is stored, and a node that has it goes on.
    const other = await createTestRuntime({ plugins: [storesWith(store)], env: { nodeId: 'c' } });
    const bare = other.agent({ id: 'clerk', model: new ScriptedModel([]) });
    await bare.ready();
    expect((await bare.sessions.list()).items[0]?.status).toBe('waiting');
    const [question] = await (await bare.sessions.get('s')).interactions();
    await (await bare.sessions.get('s')).respond({ id: question?.id ?? '', ...ada });
    await other.dispose();
    const second = await node(store, { nodeId: 'b' });
    const handle = await (await second.agent.sessions.get('s')).resume();
    expect(await handle?.finished).toMatchObject({ success: true, text: 'done' });
    expect((await types(store)).filter((type) => type === 'QuestionAsked')).toHaveLength(1);
    expect((await second.agent.replay('s')).difference).toBeUndefined();
    await second.runtime.dispose();
  });

  test('is answered once: of 20 answers from two nodes one counts, and 19 learn whose', async () => {
    const store = new MemoryEventStore();
    const a = await node(store);
    const b = await node(store, { nodeId: 'b' });
    const session = await a.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const id = (await waiting(session, 1))[0]?.id ?? '';
    const other = await b.agent.sessions.get('s');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? session : other).respond({ id, answers: { place: 'away' }, by: `p${n}` }),
      ),
    );
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
    const lost = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(lost).toHaveLength(19);
    for (const error of lost) {
      expect(isPerdureError(error, 'PERDURE_INTERACTION_ANSWERED') && error.data['by']).toBe(`p${won}`);
    }
    expect((await turn.finished).success).toBe(true);
    expect(await payloads(store, 'QuestionAnswered')).toMatchObject([{ by: `p${won}`, answers: { place: 'away' } }]);
    // Also when the step is long over.
    await expect(other.respond({ id, ...ada })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_ANSWERED',
      data: { by: `p${won}` },
    });
    await b.runtime.dispose();
    await a.runtime.dispose();
  });

  test('takes no answer that does not fit, says which field, and goes on waiting; nothing is appended', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, { script: calling(call('where', 'a'), call('asked', 'b')) });
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.prompt('go');
    const [question, approval] = await waiting(session, 2);
    const before = await types(store);
    const id = question?.id ?? '';
    const refused = (response: object, data: object, code = 'PERDURE_INPUT_INVALID') =>
      expect(session.respond({ id, by: 'eve', ...response } as never)).rejects.toMatchObject({ code, data });
    await refused({ answers: { place: 'nowhere' } }, { field: 'response.answers.place' });
    await refused({ answers: { place: ['home'] } }, { field: 'response.answers.place' });
    await refused({ answers: { place: 5 } }, { field: 'response.answers.place' });
    await refused({ answers: { place: 'home', time: 'now' } }, { field: 'response.answers.time' });
    await refused({ answers: {} }, { field: 'response.answers.place' });
    await refused({ answers: null }, { field: 'response.answers' });
    await refused({ answers: { place: 'home' }, by: '' }, { field: 'response.by' });
    await refused({ answers: { place: 'home' }, decision: 'allow' }, { field: 'response.decision' });
    await refused({ decision: 'allow' }, { field: 'response.decision' });
    await refused({ id: approval?.id, answers: { place: 'home' } }, { field: 'response.answers' });
    await refused({ id: 'other', ...ada }, { interaction: 'other' }, 'PERDURE_INTERACTION_NOT_FOUND');
    expect(await types(store)).toEqual(before);
    await refused({ ...ada, argumentDigest: 'sha256:0' }, { interaction: id }, 'PERDURE_INTERACTION_CHANGED');
    expect(await payloads(store, 'QuestionRefused')).toMatchObject([
      { callId: id, code: 'PERDURE_INTERACTION_CHANGED' },
    ]);
    expect(await session.interactions()).toHaveLength(2);
    await session.respond({ id, ...ada });
    await runtime.dispose();
  });

  test.each([
    ['fails', 'fail', 'failed', undefined],
    [
      'has its default answers',
      { answers: { place: 'away' } },
      'completed',
      { answers: { place: 'away' }, isDefault: true },
    ],
  ] as const)('that nobody answers in time %s', async (_, onExpiry, status, output) => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store, { set: { expiresInMs: 30, onExpiry } });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect(await session.send('go')).toMatchObject({ success: true, text: 'done' });
    const [result] = await results(session);
    expect(result).toMatchObject({ status, ...(output === undefined ? {} : { output }) });
    expect(result?.failure?.code).toBe(status === 'failed' ? 'PERDURE_TOOL_UNANSWERED' : undefined);
    expect(await payloads(store, 'QuestionAnswered')).toMatchObject([{ by: 'expiry', isExpiry: true }]);
    await expect(session.respond({ id: result?.callId ?? '', ...ada })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_ANSWERED',
      data: { by: 'expiry' },
    });
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('of a turn that is stopped is cancelled, and nobody can answer it any more', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await node(store);
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect(await payloads(store, 'ToolCallSettled')).toMatchObject([{ status: 'cancelled' }]);
    expect(await session.interactions()).toEqual([]);
    await expect(session.respond({ id: question?.id ?? '', ...ada })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_NOT_FOUND',
    });
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });
});
