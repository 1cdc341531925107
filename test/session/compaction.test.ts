import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { CoreType, PayloadOf } from '@perdure/events';
import type { AgentOptions, LanguageModel } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { contextTooLong, ScriptedModel, type ScriptedAnswer, type ScriptRequest } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const WINDOW = 2_000;
const LONG = 'l'.repeat(1_600);
const isSummary = ({ lastUserText }: ScriptRequest): boolean => lastUserText.startsWith('Summarise');

/** A session whose model answers summaries and steps each by a function. */
async function sessionWith(
  summary: ScriptedAnswer | ((request: ScriptRequest) => ScriptedAnswer),
  step: (request: ScriptRequest, index: number) => ScriptedAnswer = () => ({ text: 'well', usage: null }),
  options: Partial<AgentOptions> = {},
) {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  let steps = 0;
  const model = new ScriptedModel((request) => {
    if (!isSummary(request)) return step(request, steps++);
    return typeof summary === 'function' ? summary(request) : summary;
  });
  const agent = runtime.agent({
    id: 'clerk',
    model,
    instruction: 'Be brief.',
    tools: { lookup: lookupTool() },
    context: { window: WINDOW },
    ...options,
  });
  const session = await agent.sessions.create({ sessionId: 's' });
  const facts = async <Type extends CoreType>(type: Type) =>
    (await store.read('session-_.s', { limit: 1_000 })).facts
      .filter((fact) => fact.type === type)
      .map((fact) => JSON.parse(fact.payload) as PayloadOf<Type>);
  return { runtime, agent, session, model, facts };
}

type Started = Awaited<ReturnType<typeof sessionWith>>;

/** Prompts until the conversation is as long as it may be. */
async function fill({ session }: Started, prompts = 6): Promise<void> {
  for (let prompt = 0; prompt < prompts; prompt++) {
    expect(await session.send(`${prompt} ${LONG}`)).toMatchObject({ status: 'completed' });
  }
}

async function end({ runtime, agent }: Started): Promise<void> {
  expect((await agent.replay('s')).difference).toBeUndefined();
  await runtime.dispose();
}

const failing: ScriptedAnswer = { error: { status: 400, message: 'no' } };

describe('a conversation that comes near the window', () => {
  test('is summed up before the next step; the summary before is summed up with the rest [P15]', async () => {
    let written = 0;
    const started = await sessionWith(() => ({ text: `part ${++written} was read`, usage: null }));
    await fill(started, 12);
    const compacted = await started.facts('HistoryCompacted');
    expect(compacted.length).toBeGreaterThan(1);
    expect(compacted[0]).toMatchObject({
      reason: 'threshold',
      method: 'model',
      summary: 'part 1 was read',
      window: WINDOW,
    });
    for (const { tokensBefore = 0, tokensAfter = 0 } of compacted) {
      expect(tokensBefore).toBeGreaterThanOrEqual(0.8 * WINDOW);
      expect(tokensAfter).toBeLessThan(0.8 * WINDOW);
    }
    const orders = started.model.calls.filter(({ prompt }) => JSON.stringify(prompt).includes('"Summarise'));
    expect(JSON.stringify(orders[1]?.prompt)).toContain('part 1 was read');
    // System prompt, summary, and the prompt of the turn as it was given.
    const last = started.model.calls.at(-1)?.prompt ?? [];
    expect(last[0]).toMatchObject({ role: 'system', content: expect.stringMatching(/^Be brief\./) });
    expect(JSON.stringify(last[1])).toContain(`part ${written} was read`);
    expect(last.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text', text: `11 ${LONG}` }] });
    expect((await started.session.messages()).total).toBe(24);
    await end(started);
  });

  test.each<[string, ScriptedAnswer]>([
    ['fails', failing],
    ['is empty', { text: ' ' }],
    ['is cut', { text: 'half of', finish: 'length' }],
    ['asks for calls', { calls: [{ name: 'lookup', input: { key: 'a' } }], finish: 'tool-calls' }],
  ])('goes on with a summary made without a model when that of the model %s', async (_, summary) => {
    const started = await sessionWith({ usage: null, ...summary });
    await fill(started);
    const [compacted] = await started.facts('HistoryCompacted');
    expect(compacted).toMatchObject({ reason: 'threshold', method: 'fallback' });
    expect(compacted?.summary).toMatch(/No model.*0 lll/s);
    expect(compacted?.summary.length).toBeLessThanOrEqual((WINDOW / 8) * 4);
    await end(started);
  });

  test('tries a provider that fails for a while again, and each try is a fact', async () => {
    let tries = 0;
    const started = await sessionWith(() =>
      ++tries === 1 ? { error: { status: 503, retryAfter: { seconds: 0 } } } : { text: 'read' },
    );
    await fill(started);
    expect((await started.facts('HistoryCompacted'))[0]).toMatchObject({ method: 'model', summary: 'read' });
    const failed = await started.facts('ModelCallFailed');
    expect(failed).toMatchObject([{ purpose: 'compaction', attempt: 1, retryable: true }]);
    await end(started);
  });

  test('asks no model where a hook says no, and goes on all the same; a request is refused', async () => {
    const started = await sessionWith({ text: 'never' });
    const told: unknown[] = [];
    started.session.registerHook('no', 'pre_compact', null, null, ({ payload }) => {
      told.push(payload);
      return { action: 'block', reason: 'on hold' };
    });
    await fill(started);
    expect((await started.facts('HistoryCompacted'))[0]).toMatchObject({ method: 'fallback' });
    expect(started.model.calls.some(({ prompt }) => JSON.stringify(prompt).includes('"Summarise'))).toBe(false);
    expect(told[0]).toMatchObject({ max_tokens: WINDOW });
    const asked = await (await started.session.compact()).finished;
    expect(asked).toMatchObject({ success: false, error: { code: 'PERDURE_CHANGE_BLOCKED' } });
    await end(started);
  });

  test('asks no model where a budget says no, and goes on all the same; a request is refused', async () => {
    const started = await sessionWith({ text: 'never' });
    started.session.setBudgetGuard({
      checkBeforeLlm: ({ callId }) =>
        callId.includes('.compaction.')
          ? { decision: 'deny', resource: 'llm_tokens', reason: 'not for summaries' }
          : undefined,
    });
    await fill(started);
    expect((await started.facts('HistoryCompacted'))[0]).toMatchObject({ method: 'fallback' });
    expect((await started.facts('ModelCallDenied'))[0]).toMatchObject({
      purpose: 'compaction',
      resource: 'llm_tokens',
    });
    const deny = { decision: 'deny', resource: 'llm_tokens', reason: 'nothing is left' } as const;
    started.session.setBudgetGuard({ checkBeforeLlm: () => deny });
    const asked = await (await started.session.compact()).finished;
    expect(asked).toMatchObject({ success: false, error: { code: 'PERDURE_BUDGET_EXHAUSTED' } });
    await end(started);
  });
});

describe('a request that the provider finds too long', () => {
  const wide = { context: { window: 100_000 } };

  test('is compacted and asked again once, although it was thought to fit [R14]', async () => {
    const started = await sessionWith(
      { text: 'read' },
      (_, index) => (index === 3 ? { error: contextTooLong } : { text: 'well' }),
      wide,
    );
    await fill(started, 5);
    expect(await started.facts('HistoryCompacted')).toMatchObject([{ reason: 'overflow', method: 'model' }]);
    expect(await started.facts('ModelCallFailed')).toMatchObject([
      { attempt: 1, failure: { code: 'PERDURE_MODEL_CONTEXT_OVERFLOW' } },
    ]);
    const again = started.model.calls.at(5)?.prompt ?? [];
    expect(JSON.stringify(again).length).toBeLessThan(JSON.stringify(started.model.calls.at(3)?.prompt).length / 2);
    expect(again.at(-1)).toMatchObject({ role: 'user', content: [{ text: `3 ${LONG}` }] });
    await end(started);
  });

  test('twice fails its turn by a code; the next one may succeed', async () => {
    const started = await sessionWith(
      { text: 'read' },
      (_, index) => (index === 3 || index === 4 ? { error: contextTooLong } : { text: 'well' }),
      wide,
    );
    await fill(started, 3);
    expect(await started.session.send('more')).toMatchObject({
      status: 'failed',
      error: { code: 'PERDURE_MODEL_CONTEXT_OVERFLOW' },
    });
    expect(await started.facts('HistoryCompacted')).toHaveLength(1);
    expect(started.model.calls).toHaveLength(6);
    expect(await started.session.send('and again')).toMatchObject({ status: 'completed' });
    await end(started);
  });

  test('with nothing to sum up fails its turn at once', async () => {
    const started = await sessionWith({ text: 'read' }, () => ({ error: contextTooLong }), wide);
    expect(await started.session.send(LONG)).toMatchObject({ error: { code: 'PERDURE_MODEL_CONTEXT_OVERFLOW' } });
    expect(started.model.calls).toHaveLength(1);
    expect(await started.facts('HistoryCompacted')).toEqual([]);
    await end(started);
  });
});

describe('a compaction that is asked for', () => {
  test('waits for the step that runs; its handle ends, and the next step has it [P15]', async () => {
    const holding: { let?: () => void } = {};
    const held = new Promise<void>((resolve) => (holding.let = resolve));
    const wait = { ...lookupTool(), execute: async () => (await held, 'waited') };
    const started = await sessionWith(
      { text: 'they talked' },
      ({ lastUserText, messages }) =>
        lastUserText === 'go' && messages.at(-1)?.role === 'user'
          ? { calls: [{ name: 'wait', input: { key: 'a' } }] }
          : { text: 'well' },
      { tools: { wait } },
    );
    for (const text of ['one', 'two', 'three']) await started.session.send(text);
    const turn = await started.session.prompt('go');
    const handle = await started.session.compact();
    expect(await started.facts('HistoryCompacted')).toEqual([]);
    holding.let?.();
    expect(await handle.finished).toEqual({ success: true });
    expect(await turn.finished).toMatchObject({ status: 'completed' });
    expect(await started.facts('HistoryCompacted')).toMatchObject([{ reason: 'request', changeId: handle.id }]);
    const last = JSON.stringify(started.model.calls.at(-1)?.prompt);
    for (const part of ['they talked', '"go"', 'waited']) expect(last).toContain(part);
    await end(started);
  });

  test('succeeds without a fact when there is nothing to sum up, and says before and after when there is', async () => {
    const started = await sessionWith({ text: 'short' });
    expect(await (await started.session.compact()).finished).toEqual({ success: true });
    await fill(started, 2);
    expect(await started.facts('HistoryCompacted')).toEqual([]);
    expect(await (await started.session.compact()).finished).toEqual({ success: true });
    // What is left must stay.
    expect(await (await started.session.compact()).finished).toEqual({ success: true });
    const [compacted, ...others] = await started.facts('HistoryCompacted');
    expect(others).toEqual([]);
    expect(compacted?.tokensAfter).toBeLessThan(compacted?.tokensBefore ?? 0);
    for await (const { type, payload } of started.session.events()) {
      if (type !== 'context_compacted') continue;
      expect(payload).toMatchObject({ summary: 'short', method: 'model', reason: 'request', window: WINDOW });
      expect(payload).toMatchObject({
        tokens_after: compacted?.tokensAfter,
        percent_before: expect.any(Number) as number,
      });
      break;
    }
    await end(started);
  });

  test('never makes a conversation longer: without a model where that is shorter, else not at all', async () => {
    const started = await sessionWith({ text: 'S'.repeat(8_000), usage: null });
    for (const text of ['a', 'b']) await started.session.send(text);
    expect(await (await started.session.compact()).finished).toEqual({ success: true });
    expect(await started.facts('HistoryCompacted')).toEqual([]);
    for (const text of ['c', 'd', 'e']) await started.session.send(`${text} ${'many words '.repeat(25)}`);
    expect(await (await started.session.compact()).finished).toEqual({ success: true });
    const [compacted] = await started.facts('HistoryCompacted');
    expect(compacted?.method).toBe('fallback');
    expect(compacted?.tokensAfter).toBeLessThan(compacted?.tokensBefore ?? 0);
    await end(started);
  });
});

describe('the window', () => {
  const telling = (contextWindow: number): LanguageModel =>
    Object.assign(new ScriptedModel([{ text: 'hi' }]), { contextWindow });

  test.each<[string, Partial<AgentOptions>, number, number]>([
    ['is what the host says of every model', { model: telling(5), context: { window: 7_000 } }, 7_000, 0.8],
    [
      'is what the host says of the model by name',
      { model: 'a', models: { a: telling(5) }, context: { window: { a: 8_000 } } },
      8_000,
      0.8,
    ],
    [
      'is what the model tells, where the host does not',
      { model: telling(9_000), context: { compactAt: 0.5 } },
      9_000,
      0.5,
    ],
    ['is 200,000 tokens else', { model: new ScriptedModel([{ text: 'hi' }]), context: {} }, 200_000, 0.8],
  ])('%s', async (_, options, window, compactAt) => {
    const started = await sessionWith(failing, undefined, options);
    await started.session.send('hello');
    expect((await started.facts('StepStarted'))[0]?.setup?.context).toEqual({ window, compactAt });
    await end(started);
  });

  test.each<[string, object]>([
    ['agent.context.window', { window: 0 }],
    ['agent.context.compactAt', { compactAt: 1.5 }],
  ])('that is none is refused by its name: %s', async (field, context) => {
    await expect(sessionWith(failing, undefined, { context })).rejects.toMatchObject({
      code: 'PERDURE_CONFIGURATION',
      data: { field },
    });
  });
});
