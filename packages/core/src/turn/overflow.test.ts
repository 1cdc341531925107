import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUsage, type CoreFact, type CoreType, type PayloadOf } from '@perdure/events';
import type { DecidedCompaction } from '../compose/compaction-planner.js';
import { evolve } from '../session/evolve.js';
import { initialState, type SessionState } from '../session/session-state.js';
import { nextIntent, type Intent, type PlanCompaction } from './decider.js';

const limits = { maxSteps: 20, maxModelAttempts: 3, maxRepeatedCalls: 2, maxParseFailures: 1 };
const idle = { underWay: new Set<string>(), voided: new Set<string>() };
const view = { setup: 'd', prompt: 'd', history: { messages: 0, compactions: 0, digest: 'd' } };
const about = { purpose: 'step' as const, model: 'm', provider: 'p', modelId: 'x', startedAt: 0, endedAt: 0 };
const plan: DecidedCompaction = {
  reason: 'overflow',
  summarised: 1,
  prompts: [],
  kept: 1,
  remainingTokens: 1,
  summaryTokens: 64,
  requestTokens: 100,
  tokensBefore: 10,
  window: 10,
  correction: 1,
};

function fact<Type extends CoreType>(type: Type, payload: PayloadOf<Type>): CoreFact {
  return { type, payload } as CoreFact;
}

const begun = [
  fact('OwnershipTaken', { node: 'n', incarnation: 'i', epoch: 1, reason: 'first' }),
  fact('PromptAccepted', {
    promptId: 'p',
    turnId: 't',
    messageId: 'p',
    mode: 'turn',
    parts: [{ type: 'text', text: 'x' }],
  }),
];
const superseded = fact('RunEnded', { runId: 'r', turnId: 't', status: 'superseded', steps: 1, usage: noUsage });
const compacted = fact('HistoryCompacted', {
  reason: 'overflow',
  method: 'model',
  summary: 's',
  summarised: 1,
  kept: 1,
});

type Answer = 'overflow' | 'failure' | 'answer' | 'crash';

/** What an intent leads to, where the model gives the answers in their order and the last one for ever. */
function outcomeOf(intent: Intent, answers: Answer[], runs: number): readonly CoreFact[] | 'over' {
  switch (intent.do) {
    case 'start-run':
      return [fact('RunStarted', { runId: `r${runs}`, turnId: 't', deciderVersion: 1 })];
    case 'start-step':
      return [
        fact('StepStarted', {
          stepId: `t.${intent.turn.steps}`,
          index: intent.turn.steps,
          joined: [...intent.joined],
          view,
        }),
      ];
    case 'ask-model': {
      const call = { ...about, stepId: intent.step.stepId, attempt: intent.attempt };
      const next = answers.length > 1 ? answers.shift() : answers[0];
      if (next === 'crash')
        return [superseded].map((end) => ({ ...end, payload: { ...end.payload, runId: `r${runs - 1}` } }) as CoreFact);
      if (next === 'answer') {
        const parts = [{ type: 'text' as const, text: 'done' }];
        return [fact('ModelAnswered', { ...call, messageId: 'a', parts, usage: noUsage, finish: { unified: 'stop' } })];
      }
      const code = next === 'overflow' ? 'PERDURE_MODEL_CONTEXT_OVERFLOW' : 'PERDURE_MODEL_UNAVAILABLE';
      return [fact('ModelCallFailed', { ...call, failure: { code, message: code }, retryable: next === 'failure' })];
    }
    case 'make-room':
      return [compacted];
    case 'checkpoint-step':
      return [fact('StepCheckpointed', { stepId: intent.step.stepId, index: intent.step.index, usage: noUsage })];
    default:
      return 'over';
  }
}

function drive(answers: readonly Answer[], planning: PlanCompaction) {
  const left = [...answers];
  const done: Intent['do'][] = [];
  const fold = (state: SessionState, { type, payload }: CoreFact): SessionState =>
    evolve(state, type, payload as never, { revision: 0, time: 0 });
  let state = begun.reduce(fold, initialState);
  for (let round = 0; round < 500; round++) {
    const intent = nextIntent(state, limits, idle, planning);
    done.push(intent.do);
    const facts = outcomeOf(intent, left, done.filter((one) => one === 'start-run').length);
    if (facts === 'over') return { last: intent, done };
    state = facts.reduce(fold, state);
  }
  throw new Error(`no end: ${done.slice(-10).join()}`);
}

const onOverflow: PlanCompaction = (_, reason) => (reason === 'overflow' ? plan : undefined);
const never: PlanCompaction = () => undefined;
const times = (done: readonly string[], intent: string): number => done.filter((one) => one === intent).length;

describe('a request that is too long', () => {
  test('is asked again behind one compaction, as no other try of the same', () => {
    const { last, done } = drive(['overflow', 'answer'], onOverflow);
    expect(done).toEqual([
      'start-run',
      'start-step',
      'ask-model',
      'make-room',
      'start-step',
      'ask-model',
      'checkpoint-step',
      'end-run',
    ]);
    expect(last).toMatchObject({ do: 'end-run', status: 'completed' });
  });

  test('fails the turn when it is too long again', () => {
    const { last, done } = drive(['overflow', 'overflow', 'answer'], onOverflow);
    expect(last).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_MODEL_CONTEXT_OVERFLOW' } });
    expect([times(done, 'make-room'), times(done, 'ask-model')]).toEqual([1, 2]);
  });

  test('leaves the tries of other failures as they are', () => {
    const { last, done } = drive(['failure', 'overflow', 'failure', 'failure', 'answer'], onOverflow);
    expect(last).toMatchObject({ status: 'completed' });
    expect(times(done, 'ask-model')).toBe(5);
  });

  test('fails the turn at once when there is nothing to sum up', () => {
    const { last, done } = drive(['overflow', 'answer'], never);
    expect(last).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_MODEL_CONTEXT_OVERFLOW' } });
    expect(times(done, 'ask-model')).toBe(1);
  });

  test('is not compacted twice for one refusal, when the process died behind the compaction', () => {
    const { last, done } = drive(['overflow', 'crash', 'answer'], onOverflow);
    expect(last).toMatchObject({ status: 'completed' });
    expect(times(done, 'make-room')).toBe(1);
  });

  test('ends every turn, whatever the model answers and however often the process dies', () => {
    const anyAnswers = fc.array(fc.constantFrom<Answer>('overflow', 'failure', 'answer', 'crash'), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(anyAnswers, fc.constantFrom(onOverflow, never), (answers, planning) => {
        const end = answers.at(-1) === 'crash' ? [...answers, 'overflow' as const] : answers;
        const { last, done } = drive(end, planning);
        expect(last).toMatchObject({ do: 'end-run' });
        const refusals = end.filter((answer) => answer === 'overflow').length;
        expect(times(done, 'make-room')).toBeLessThanOrEqual(Math.min(refusals + 1, 1));
      }),
    );
  });
});
