import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  correctionOf,
  planCompaction,
  triggerOf,
  type CompactionPlan,
  type ContextLimits,
  type PlannedMessage,
} from './compaction-plan.js';

const limits: ContextLimits = { window: 1_000, compactAt: 0.8, maxOutputTokens: undefined };
const message = (role: PlannedMessage['role'], tokens = 50, more: Partial<PlannedMessage> = {}): PlannedMessage => ({
  role,
  tokens,
  isCurrentPrompt: false,
  isUnresolved: false,
  ...more,
});
const prompt = (tokens = 50) => message('user', tokens, { isCurrentPrompt: true });
const step = (tokens = 50) => [message('assistant', tokens), message('tool', tokens)];
const steps = (count: number, tokens = 50) => Array.from({ length: count }, () => step(tokens)).flat();
const plan = (messages: readonly PlannedMessage[], reason: CompactionPlan['reason'] = 'threshold', of = limits) =>
  planCompaction(messages, 100, 0, reason, of);

/** What models see behind a plan, beside the summary. */
function after(messages: readonly PlannedMessage[], { prompts, kept }: CompactionPlan): readonly PlannedMessage[] {
  return [...prompts.flatMap((place) => messages[place] ?? []), ...messages.slice(messages.length - kept)];
}

describe('the trigger', () => {
  test.each<[string, Partial<ContextLimits>, number]>([
    ['is the share of the window', {}, 800],
    ['leaves room for an answer as long as it may get', { maxOutputTokens: 400 }, 600],
    ['is never below half of the window', { maxOutputTokens: 900 }, 500],
    ['may be the whole window', { compactAt: 1 }, 1_000],
  ])('%s', (_, more, expected) => {
    expect(triggerOf({ ...limits, ...more })).toBe(expected);
  });
});

describe('a correction of estimates', () => {
  test.each<[string, number, number, number]>([
    ['follows what was reported', 100, 150, 1.5],
    ['is none when nothing was reported', 100, 0, 1],
    ['is none when nothing was estimated', 0, 100, 1],
    ['halves at most', 100, 1, 0.5],
    ['is four times at most', 100, 100_000, 4],
  ])('%s', (_, estimated, reported, expected) => {
    expect(correctionOf(estimated, reported)).toBe(expected);
  });
});

describe('a plan', () => {
  test('given a long turn, sums up its older steps and keeps its prompt and the newest steps', () => {
    const messages = [message('user'), message('assistant'), prompt(), ...steps(8)];
    expect(plan(messages)).toMatchObject({ prompts: [2], summarised: 14, kept: 4 });
  });

  test('given prompts that joined under way, keeps each of them, whatever their size', () => {
    const messages = [prompt(), ...steps(4), prompt(400), ...steps(4)];
    expect(plan(messages)?.prompts).toEqual([0, 9]);
  });

  test('never parts an answer from the results of its calls', () => {
    for (let tokens = 20; tokens < 200; tokens += 7) {
      const messages = [prompt(), ...steps(10, tokens)];
      const kept = after(messages, plan(messages) ?? { ...noPlan, kept: messages.length });
      expect(kept.find(({ role }) => role !== 'user')?.role).toBe('assistant');
    }
  });

  test('given an unresolved call far back, keeps its answer and everything behind it', () => {
    const open = message('assistant', 50, { isUnresolved: true });
    const messages = [prompt(), ...steps(3), open, ...steps(8)];
    expect(plan(messages)).toMatchObject({ summarised: 6, kept: 17 });
  });

  test('keeps the last answer and its results, even when they are larger than the tail may be', () => {
    const messages = [prompt(), ...steps(4), ...step(300)];
    expect(plan(messages)).toMatchObject({ summarised: 8, kept: 2 });
  });

  test('is none when all that is left is what must stay', () => {
    expect(plan([prompt(900), ...step(200)])).toBeUndefined();
    expect(plan([prompt()], 'overflow')).toBeUndefined();
    expect(plan([], 'request')).toBeUndefined();
  });

  test('is none before a step when a summary would gain nothing', () => {
    const messages = [prompt(700), ...steps(2, 20)];
    expect(plan(messages)).toBeUndefined();
    expect(plan(messages, 'overflow')).toMatchObject({ summarised: 2, kept: 2 });
  });

  test('behind an overflow goes by the request that was refused, where that is smaller than the window', () => {
    const messages = [prompt(), ...steps(8)];
    const wide = { ...limits, window: 200_000 };
    const { kept = 0, requestTokens = 0, summaryTokens = 0 } = plan(messages, 'overflow', wide) ?? {};
    expect(kept).toBeLessThan(messages.length / 2);
    expect([requestTokens, summaryTokens]).toEqual([475, 118]);
  });

  test('by request keeps a quarter of the conversation', () => {
    expect(
      plan([message('user'), message('assistant'), ...steps(9), prompt(), message('assistant')], 'request'),
    ).toMatchObject({
      summarised: 16,
      kept: 6,
    });
  });

  const anyMessages = fc
    .array(
      fc.oneof(
        fc.integer({ min: 1, max: 300 }).map((tokens) => [message('user', tokens)]),
        fc.integer({ min: 1, max: 300 }).map((tokens) => [prompt(tokens)]),
        fc.integer({ min: 1, max: 300 }).map((tokens) => step(tokens)),
        fc.integer({ min: 1, max: 300 }).map((tokens) => [message('assistant', tokens)]),
      ),
      { maxLength: 30 },
    )
    .map((groups) => groups.flat());
  const anyReason = fc.constantFrom('threshold' as const, 'overflow' as const, 'request' as const);

  test('loses no current prompt, parts no pair, and is done with one compaction, whatever the conversation', () => {
    fc.assert(
      fc.property(anyMessages, anyReason, fc.integer({ min: 100, max: 5_000 }), (messages, reason, window) => {
        const of = { ...limits, window };
        const first = planCompaction(messages, 100, 0, reason, of);
        if (first === undefined) return;
        const left = after(messages, first);
        expect(left.filter((one) => one.isCurrentPrompt)).toEqual(messages.filter((one) => one.isCurrentPrompt));
        expect(first.summarised + first.prompts.length + first.kept).toBe(messages.length);
        expect(messages[messages.length - first.kept]?.role).not.toBe('tool');
        expect(left.length).toBeLessThan(messages.length);
        if (reason === 'threshold') expect(planCompaction(left, 100, 50, reason, of)).toBeUndefined();
      }),
    );
  });
});

const noPlan: CompactionPlan = {
  reason: 'threshold',
  summarised: 0,
  prompts: [],
  kept: 0,
  remainingTokens: 0,
  summaryTokens: 0,
  requestTokens: 0,
};
