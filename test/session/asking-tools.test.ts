import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AskOutcome, QuestionSet, Session, ToolContext, Tools } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { storesWith } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { ada, call, calling, node, payloads, place, results, types, waiting, type Setup } from './questions.fixture.js';

const inputSchema = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };

/** Tools that run and ask people meanwhile. */
function asking(set: Partial<QuestionSet> = {}, runs: string[] = []): Tools {
  const tool = (effect: 'once' | 'idempotent', timeoutMs?: number) => ({
    ...{ inputSchema, effect },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: async ({ key }: { key: string }, { ask }: ToolContext): Promise<AskOutcome | undefined> => {
      runs.push(key);
      return ask?.({ title: `About ${key}`, questions: [place], ...set });
    },
  });
  return { pay: tool('once'), put: tool('idempotent'), quick: tool('once', 150) } as Tools;
}

const allow = () => ({ decision: 'allow' }) as const;

async function start(name: string, more: Partial<Setup> = {}, set: Partial<QuestionSet> = {}) {
  const store = new MemoryEventStore();
  const runs: string[] = [];
  const setup = { script: calling(call(name, 'a')), tools: asking(set, runs), decide: allow, ...more };
  const made = await node(store, setup);
  return { ...made, store, runs, session: await made.agent.sessions.create({ sessionId: 's' }) };
}

describe('a tool that asks while it runs [P9]', () => {
  test('has its question as a fact before it is shown, bound to its call, and goes on with the answer', async () => {
    const { store, runtime, agent, session } = await start('pay');
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    expect(question).toMatchObject({ kind: 'question', tool: 'pay', input: { key: 'a' }, title: 'About a' });
    const [asked] = await payloads(store, 'QuestionAsked');
    const [started] = await payloads(store, 'ToolCallStarted');
    expect(asked).toMatchObject({ callId: question?.id, parent: started.callId, origin: 'nested', questions: [place] });
    expect(asked.argumentDigest).toBe(started.argumentDigest);
    // Who answers something else is told so, and the question waits on.
    const id = question?.id ?? '';
    const wrong = session.respond({ id, by: 'eve', answers: { place: 'nowhere' } });
    await expect(wrong).rejects.toMatchObject({ data: { field: 'response.answers.place' } });
    await session.respond({ id, argumentDigest: question?.argumentDigest ?? '', ...ada });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    const output = { status: 'answered', answers: { place: 'home' }, by: 'ada' };
    expect(await results(session)).toMatchObject([{ status: 'completed', output }]);
    await expect(session.respond({ id, ...ada })).rejects.toMatchObject({
      code: 'PERDURE_INTERACTION_ANSWERED',
      data: { by: 'ada' },
    });
    const wire: string[] = [];
    for await (const { type } of session.events()) {
      wire.push(type);
      if (type === 'agent_end') break;
    }
    expect(wire).toEqual(expect.arrayContaining(['user_question', 'question_answered']));
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('has no less time because people take theirs, and neither has its turn', async () => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), governedBy(allow, { mode: 'ask' })] });
    const limits = { maxTurnMs: 300 };
    const model = new ScriptedModel(calling(call('quick', 'a')));
    const session = await runtime
      .agent({ id: 'clerk', model, tools: asking(), limits } as never)
      .sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    await sleep(450);
    await session.respond({ id: question?.id ?? '', ...ada });
    expect(await turn.finished).toMatchObject({ success: true });
    expect(await results(session)).toMatchObject([{ status: 'completed' }]);
    await runtime.dispose();
  });

  test('is told that nobody wanted to answer, or did in time', async () => {
    const declined = await start('pay');
    const turn = await declined.session.prompt('go');
    const id = (await waiting(declined.session, 1))[0]?.id ?? '';
    await declined.session.respond({ id, decline: true, by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect(await results(declined.session)).toMatchObject([{ output: { status: 'declined', by: 'ada' } }]);
    await declined.runtime.dispose();
    for (const [set, output] of [
      [{ expiresInMs: 30 }, { status: 'unanswered' }],
      [
        { expiresInMs: 30, onExpiry: { answers: { place: 'away' } } },
        { status: 'answered', answers: { place: 'away' }, isDefault: true },
      ],
    ] as const) {
      const late = await start('pay', {}, set);
      expect((await late.session.send('go')).success).toBe(true);
      expect(await results(late.session)).toMatchObject([{ status: 'completed', output }]);
      expect((await late.agent.replay('s')).difference).toBeUndefined();
      await late.runtime.dispose();
    }
  });

  test('is told at once, and why, where nobody is there to be asked', async () => {
    for (const mode of ['always-allow', 'deny'] as const) {
      const { store, runtime, session } = await start('pay', { mode });
      expect((await session.send('go')).success).toBe(true);
      const reason = expect.stringContaining(mode) as string;
      expect(await results(session)).toMatchObject([{ output: { status: 'nobody', reason } }]);
      expect(await types(store)).not.toContain('QuestionAsked');
      await runtime.dispose();
    }
  });

  test('is told what is wrong with what it asks, and asks for the host as well', async () => {
    const wrong = await start('pay', {}, { questions: [] });
    expect((await wrong.session.send('go')).success).toBe(true);
    expect(await results(wrong.session)).toMatchObject([{ failure: { code: 'PERDURE_INPUT_INVALID' } }]);
    await wrong.runtime.dispose();
    const { runtime, session } = await start('pay');
    const called = session.governedTool('pay', { key: 'b' });
    const [question] = await waiting(session, 1);
    expect(question).toMatchObject({ turnId: null, tool: 'pay', input: { key: 'b' } });
    await session.respond({ id: question?.id ?? '', ...ada });
    expect(await called).toMatchObject({ status: 'completed', output: { answers: { place: 'home' } } });
    await runtime.dispose();
  });
});

describe('its question when the call ends first', () => {
  const over = async (session: Session, id: string): Promise<void> => {
    expect(await session.interactions()).toEqual([]);
    await expect(session.respond({ id, ...ada })).rejects.toMatchObject({ code: 'PERDURE_INTERACTION_NOT_FOUND' });
  };

  test('by a stop of the turn is taken back', async () => {
    const { store, runtime, agent, session } = await start('pay');
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    await over(session, question?.id ?? '');
    expect((await payloads(store, 'ToolCallSettled')).map(({ status }) => status)).toEqual(['cancelled', 'unknown']);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test.each([
    ['pay', 'is taken back, and what became of the call is unknown', 1],
    ['put', 'waits for the next run of the call, and is not asked again', 2],
  ])('with its process, of %s, %s [P3]', async (name, _, count) => {
    const first = await start(name);
    const turn = await first.session.prompt('go');
    const [question] = await waiting(first.session, 1);
    await first.runtime.dispose();
    expect((await turn.finished).status).toBe('suspended');
    const { store, runs } = first;
    const second = await node(store, {
      script: calling(call(name, 'a')),
      tools: asking({}, runs),
      decide: allow,
      nodeId: 'b',
    });
    const session = await second.agent.sessions.get('s');
    const handle = await session.resume();
    if (name === 'put') {
      expect(await waiting(session, 1)).toMatchObject([{ id: question?.id }]);
      await session.respond({ id: question?.id ?? '', ...ada });
    }
    expect((await handle?.finished)?.success).toBe(true);
    expect(runs).toHaveLength(count);
    const outcome = name === 'put' ? { status: 'completed', output: { by: 'ada' } } : { status: 'unknown' };
    expect(await results(session)).toMatchObject([outcome]);
    expect((await types(store)).filter((type) => type === 'QuestionAsked')).toHaveLength(1);
    if (name === 'pay') await over(session, question?.id ?? '');
    expect((await second.agent.replay('s')).difference).toBeUndefined();
    await second.runtime.dispose();
  });
});
