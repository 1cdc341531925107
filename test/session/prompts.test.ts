import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError, type LanguageModel } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

async function startAgent(model: LanguageModel, tools = { lookup: lookupTool() }) {
  const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
  const agent = runtime.agent({ id: 'clerk', model, tools });
  return { runtime, agent, session: await agent.sessions.create() };
}

describe('prompts', () => {
  test('with the same prompt id are the same turn, before and after its end [P2]', async () => {
    const { model, inner, release } = gatedModel([{ text: 'one' }, { text: 'two' }]);
    const { runtime, session } = await startAgent(model);
    const first = await session.prompt({ query: 'hello', promptId: 'p-1' });
    const again = await session.prompt({ query: 'hello', promptId: 'p-1' });
    expect(again.id).toBe(first.id);
    release();
    expect((await first.finished).text).toBe('one');
    const later = await session.prompt({ query: 'hello', promptId: 'p-1' });
    expect(later.id).toBe(first.id);
    expect((await later.finished).text).toBe('one');
    expect(inner.calls).toHaveLength(1);
    expect((await session.messages()).items.filter(({ role }) => role === 'user')).toHaveLength(1);
    await runtime.dispose();
  });

  test('steer the running turn at its next step boundary and are answered in it', async () => {
    const { model, inner, release } = gatedModel({
      rules: [
        { when: { userTextContains: 'rather' }, answer: { text: 'steered' } },
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'a' } }] } },
        { answer: { text: 'unsteered' } },
      ],
    });
    const { runtime, session } = await startAgent(model);
    const first = await session.prompt('do it');
    const steer = await session.prompt('do that rather');
    expect(steer.id).toBe(first.id);
    release();
    expect((await first.finished).text).toBe('steered');
    const roles = (await session.messages()).items.map(({ role }) => role);
    expect(roles).toEqual(['user', 'user', 'assistant', 'tool', 'assistant'].slice(0, roles.length));
    expect(inner.calls.length).toBeGreaterThan(0);
    await runtime.dispose();
  });

  test('queue, interrupt and reject as they ask while a turn runs', async () => {
    const { model, release } = gatedModel([{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }]);
    const { runtime, session } = await startAgent(model);
    const first = await session.prompt('one');
    const queued = await session.prompt({ query: 'two', whenBusy: 'queue' });
    expect(queued.id).not.toBe(first.id);
    await expect(session.prompt({ query: 'three', whenBusy: 'reject' })).rejects.toThrow(/busy/);
    await expect(session.send('three')).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_SESSION_BUSY'));
    release();
    expect((await first.finished).text).toBe('a');
    expect((await queued.finished).text).toBe('b');
    await runtime.dispose();
  });

  test('that interrupt end the running turn and begin their own', async () => {
    const { model, release } = gatedModel([{ text: 'never' }, { text: 'after' }]);
    const { runtime, session } = await startAgent(model);
    const first = await session.prompt('one');
    const second = await session.prompt({ query: 'two', whenBusy: 'interrupt' });
    expect((await first.finished).status).toBe('cancelled');
    release();
    expect(await second.finished).toMatchObject({ status: 'completed' });
    await runtime.dispose();
  });

  test.each([
    ['', 'query'],
    [{ query: '   ' }, 'query'],
    [{ query: [] }, 'query'],
    [{ query: 5 as unknown as string }, 'query'],
    [{ query: [{ type: 'text' }] as unknown as string }, 'query.0.text'],
    [{ query: 'x', attachments: [{ type: 'file' }] as never }, 'attachments[0].mediaType'],
    [{ query: 'x', promptId: '' }, 'promptId'],
    [{ query: 'x', whenBusy: 'maybe' as never }, 'whenBusy'],
    [{ query: 'x', runId: '' }, 'runId'],
    [{ query: 'x', runId: 'r', whenBusy: 'steer' as const }, 'whenBusy'],
    [{ query: '/help', runId: 'r' }, 'runId'],
    [null as never, 'prompt'],
  ])('that are not valid are refused with the field and leave nothing: %j', async (input, field) => {
    const { runtime, session } = await startAgent(new ScriptedModel([]));
    await expect(session.prompt(input)).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_INPUT_INVALID') && error.data['field'] === field,
    );
    expect((await session.messages()).total).toBe(0);
    await runtime.dispose();
  });

  test('do not overlap as sends: one of many runs, the others are refused at once [A12]', async () => {
    const { model, inner, release } = gatedModel(scriptByRound([{ text: 'once' }]));
    const { runtime, session } = await startAgent(model);
    const sends = Array.from({ length: 20 }, () => session.send('go'));
    const outcomes = Promise.allSettled(sends);
    release();
    const settled = await outcomes;
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of settled) {
      if (each.status === 'rejected') expect(isPerdureError(each.reason, 'PERDURE_SESSION_BUSY')).toBe(true);
    }
    expect(inner.calls).toHaveLength(1);
    expect((await session.send('again')).success).toBe(true);
    await runtime.dispose();
  });
});

describe('stopping', () => {
  test('ends a model call, keeps what was said, and says so in the facts [P7] [A16] [R14]', async () => {
    const model = new ScriptedModel([{ text: 'a long story', deltas: 6, deltaDelayMs: 50 }, { text: 'next' }]);
    const { runtime, session } = await startAgent(model);
    const turn = await session.prompt('tell');
    for await (const event of session.events()) if (event.type === 'text_delta') break;
    expect(await turn.stop('enough')).toEqual({ stopped: true, turnId: turn.id });
    const result = await turn.finished;
    expect(result).toMatchObject({ success: false, status: 'cancelled' });
    expect('a long story'.startsWith(result.text) && result.text !== '').toBe(true);
    expect(await turn.stop()).toEqual({ stopped: false, turnId: null });
    expect((await session.send('go on')).text).toBe('next');
    await runtime.dispose();
  });

  test('ends a tool that listens, starts no further call, and takes back what waits', async () => {
    let started = 0;
    const slow = {
      description: 'Wait.',
      inputSchema: { type: 'object', properties: {} },
      execute: (_: object, { abortSignal }: { abortSignal: AbortSignal }) => {
        started++;
        return new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(new Error('told to end')));
        });
      },
    };
    const model = new ScriptedModel([
      {
        calls: [
          { name: 'slow', input: {} },
          { name: 'slow', input: {} },
        ],
      },
    ]);
    const { runtime, session } = await startAgent(model, { slow } as never);
    const turn = await session.prompt('wait');
    const queued = await session.prompt({ query: 'later', whenBusy: 'queue' });
    while (started === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect((await queued.finished).status).toBe('cancelled');
    expect(started).toBe(1);
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(results.map(({ status }) => status)).toEqual(['unknown', 'cancelled']);
    await runtime.dispose();
  });
});
