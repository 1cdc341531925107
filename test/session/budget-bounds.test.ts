import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { BudgetGuard, LlmReleaseContext } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { factsIn } from '../fixtures/budgets.js';

async function guarded(script: Script, guard: BudgetGuard, maxOutputTokens?: number) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  const model = new ScriptedModel(script);
  const released: LlmReleaseContext['outcome'][] = [];
  const ended: (string | null)[] = [];
  const agent = runtime.agent({
    id: 'clerk',
    model,
    tools: { lookup: lookupTool() },
    budgetGuard: {
      releaseAfterLlm: ({ outcome }) => void released.push(outcome),
      afterTurn: ({ turnId }) => void ended.push(turnId),
      ...guard,
    },
    ...(maxOutputTokens === undefined ? {} : { limits: { maxOutputTokens } }),
  });
  const session = await agent.sessions.create({ sessionId: 's' });
  const types = async (): Promise<readonly string[]> => (await factsIn(store, 'session-_.s')).map(({ type }) => type);
  return { runtime, session, model, released, ended, types };
}

describe('a budget guard', () => {
  test.each([
    [undefined, 500, 500],
    [800, 500, 500],
    [300, 500, 300],
    [300, undefined, 300],
  ])('of an agent that allows %s and says %s has answers asked for with %s tokens', async (own, said, asked) => {
    const bound = said === undefined ? {} : { maxOutputTokens: said };
    const answer = [{ text: 'one' }];
    const { runtime, session, model } = await guarded(
      answer,
      { checkBeforeLlm: () => ({ decision: 'allow', ...bound }) },
      own,
    );
    expect((await session.send('go')).success).toBe(true);
    expect(model.calls[0]?.maxOutputTokens).toBe(asked);
    await runtime.dispose();
  });

  test.each([
    ['half a token', { maxOutputTokens: 0.5 }],
    ['no token', { maxOutputTokens: 0 }],
    ['a signal that is none', { abortSignal: {} }],
  ])('that bounds a call by %s denies it', async (_, bound) => {
    const check = (() => ({ decision: 'allow', ...bound })) as never;
    const { runtime, session, model } = await guarded([{ text: 'one' }], { checkBeforeLlm: check });
    expect(await session.send('go')).toMatchObject({ error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(model.calls).toEqual([]);
    await runtime.dispose();
  });

  test('breaks a call off by its signal: the turn fails, with a fact, and the guard is told', async () => {
    const end = new AbortController();
    const { runtime, session, released, ended, types } = await guarded([{ text: 'slow', delayMs: 60_000 }], {
      checkBeforeLlm: () => {
        setTimeout(() => end.abort(new Error('enough of it')), 20);
        return { decision: 'allow', abortSignal: end.signal };
      },
    });
    const result = await session.send('go');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(result.error?.message).toContain('enough of it');
    expect(released).toEqual(['aborted']);
    expect(ended).toEqual([result.turnId]);
    expect(await types()).toContain('BudgetThresholdHit');
    // One that is over when it is given ends the call before it is made.
    expect(await session.send('again')).toMatchObject({ error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    expect(released).toEqual(['aborted', 'denied']);
    await runtime.dispose();
  });

  test('is told of calls that failed or were stopped, and not of those that were answered', async () => {
    const script: Script = [{ error: { status: 500, message: 'no' } }, { text: 'one' }, { text: 'two', stallAfter: 1 }];
    const { runtime, session, released } = await guarded(script, { checkBeforeLlm: () => null });
    expect((await session.send('go')).success).toBe(true);
    expect(released).toEqual(['failed']);
    const turn = await session.prompt('go');
    const iterator = session.events()[Symbol.asyncIterator]();
    for (let next = await iterator.next(); next.value?.type !== 'text_delta';) next = await iterator.next();
    await turn.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect(released).toEqual(['failed', 'aborted']);
    await runtime.dispose();
  });

  test('that is asked while the turn is stopped ends with it, and the session stays usable', async () => {
    let isFirst = true;
    let asked: () => void = () => undefined;
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const { runtime, session, released } = await guarded([{ text: 'one' }], {
      timeoutMs: 60_000,
      checkBeforeLlm: () => {
        if (!isFirst) return null;
        isFirst = false;
        asked();
        return new Promise(() => undefined);
      },
    });
    const turn = await session.prompt('go');
    await asking;
    await turn.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect(released).toEqual(['denied']);
    expect(await session.send('again')).toMatchObject({ success: true, text: 'one' });
    await runtime.dispose();
  });

  test('that does not guard tools at the moment is not asked about them; one that cannot say is', async () => {
    const script: Script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'a' } }] } },
        { answer: { text: 'x' } },
      ],
    };
    const tools: string[] = [];
    const checkBeforeTool = ({ toolName }: { toolName: string }): void => void tools.push(toolName);
    const without = await guarded(script, { checkBeforeTool, guardsTools: () => false });
    expect((await without.session.send('go')).success).toBe(true);
    expect(tools).toEqual([]);
    const broken = await guarded(script, {
      checkBeforeTool,
      guardsTools: () => {
        throw new Error('broken');
      },
    });
    expect((await broken.session.send('go')).success).toBe(true);
    expect(tools).toEqual(['lookup']);
    await without.runtime.dispose();
    await broken.runtime.dispose();
  });
});
