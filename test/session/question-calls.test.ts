import { describe, expect, test } from 'vitest';
import type { Session, Tools } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { z } from 'zod';
import { ada, call, node, payloads, place, results, calling, waiting, type Setup } from './questions.fixture.js';

describe('questions among other calls', () => {
  test('are shown together with approvals, and each is answered by itself', async () => {
    const store = new MemoryEventStore();
    const script = calling(call('asked', 'a'), call('where', 'b'), call('where', 'c'));
    const { runtime, agent, runs } = await node(store, { script });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const pending = await waiting(session, 3);
    expect(pending.map(({ kind, input }) => [kind, input])).toEqual([
      ['approval', { key: 'a' }],
      ['question', { key: 'b' }],
      ['question', { key: 'c' }],
    ]);
    await session.respond({ id: pending[2]?.id ?? '', by: 'ada', answers: { place: 'away' } });
    await session.respond({ id: pending[1]?.id ?? '', ...ada });
    expect(runs).toEqual([]);
    await session.respond({ id: pending[0]?.id ?? '', decision: 'allow', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect((await results(session)).map(({ output }) => output)).toEqual([
      'value of a',
      { answers: { place: 'home' } },
      { answers: { place: 'away' } },
    ]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('hold up only what comes behind them, and nothing that may run beside them', async () => {
    for (const [other, meanwhile] of [
      ['free', ['a']],
      ['look', ['a', 'c']],
    ] as const) {
      const store = new MemoryEventStore();
      const script = calling(call(other, 'a'), call('where', 'b'), call(other, 'c'));
      const { runtime, agent, runs } = await node(store, { script });
      const session = await agent.sessions.create({ sessionId: 's' });
      const turn = await session.prompt('go');
      while ((await payloads(store, 'ToolCallSettled')).length < meanwhile.length) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(runs).toEqual(meanwhile);
      const [question] = await session.interactions();
      await session.respond({ id: question?.id ?? '', ...ada });
      expect((await turn.finished).success).toBe(true);
      expect(runs).toEqual(['a', 'c']);
      expect((await agent.replay('s')).difference).toBeUndefined();
      await runtime.dispose();
    }
  });

  test('pass the gates: hooks rewrite them, rules deny them or leave them open, a mode asks nobody', async () => {
    const outcome = async (setup: Setup, work: (session: Session) => Promise<void>) => {
      const store = new MemoryEventStore();
      const { runtime, agent } = await node(store, setup);
      const session = await agent.sessions.create({ sessionId: 's' });
      session.registerHook('rewrite', 'pre_tool_use', null, null, () => ({ modified: { args: { key: 'rewritten' } } }));
      const turn = await session.prompt('go');
      await work(session);
      expect((await turn.finished).success).toBe(true);
      const [result] = await results(session);
      expect((await agent.replay('s')).difference).toBeUndefined();
      await runtime.dispose();
      return result;
    };
    const answerBoth = async (session: Session) => {
      const [approval] = await waiting(session, 1);
      expect(approval?.kind).toBe('approval');
      await session.respond({ id: approval?.id ?? '', decision: 'allow', by: 'ada' });
      let question = approval;
      while (question?.kind !== 'question') [question] = await waiting(session, 1);
      expect(question).toMatchObject({ id: approval?.id, title: 'About rewritten' });
      await session.respond({ id: question.id, ...ada });
    };
    const ask = () => ({ decision: 'ask', rule: 'where' }) as const;
    const deny = () => ({ decision: 'deny', rule: 'where' }) as const;
    expect(await outcome({ decide: ask }, answerBoth)).toMatchObject({ status: 'completed' });
    expect(await outcome({ decide: deny }, () => Promise.resolve())).toMatchObject({ status: 'denied' });
    expect(await outcome({ mode: 'deny' }, () => Promise.resolve())).toMatchObject({ status: 'denied' });
  });

  test('that a tool cannot put fail its call alone, and a call of the host asks nobody', async () => {
    const store = new MemoryEventStore();
    const broken = {
      inputSchema: z.object({ key: z.string() }),
      questions: ({ key }: { key: string }) => {
        if (key === 'throws') throw new Error('no idea');
        return { questions: [{ ...place, options: [] }] };
      },
    };
    const script = calling(call('broken', 'throws'), call('broken', 'empty'));
    const { runtime, agent } = await node(store, { script, tools: { broken } as Tools });
    const session = await agent.sessions.create({ sessionId: 's' });
    expect((await session.send('go')).success).toBe(true);
    const failures = (await results(session)).map(({ failure }) => failure);
    expect(failures.map((failure) => failure?.code)).toEqual(['PERDURE_TOOL_FAILED', 'PERDURE_TOOL_FAILED']);
    expect(failures[1]?.message).toContain('questions.0.options');
    for (const outcome of [
      await session.tool('where', { key: 'a' }),
      await session.governedTool('where', { key: 'a' }),
    ]) {
      expect(outcome).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_ASKS' } });
    }
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });
});
