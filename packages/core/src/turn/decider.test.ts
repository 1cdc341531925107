import { describe, expect, test } from 'vitest';
import { noUsage, type CoreFact, type CoreType, type EffectContract, type PayloadOf } from '@perdure/events';
import { evolve } from '../session/evolve.js';
import { initialState, type SessionState } from '../session/session-state.js';
import { nextIntent, type ProcessView } from './decider.js';

const limits = { maxSteps: 3, maxModelAttempts: 2, maxRepeatedCalls: 2, maxParseFailures: 1 };
const idle: ProcessView = { underWay: new Set(), voided: new Set() };
const digest = 'sha256:0';
const view = { setup: digest, prompt: digest, history: { messages: 0, compactions: 0, digest } };
const asked = {
  purpose: 'step' as const,
  attempt: 1,
  model: 'm',
  provider: 'p',
  modelId: 'x',
  startedAt: 0,
  endedAt: 0,
};

function fact<Type extends CoreType>(type: Type, payload: PayloadOf<Type>): CoreFact {
  return { type, payload } as CoreFact;
}

const taken = (epoch: number) => fact('OwnershipTaken', { node: 'n', incarnation: 'i', epoch, reason: 'first' });
const prompt = (promptId = 'p', mode: 'turn' | 'steer' | 'queue' = 'turn', turnId = 't') =>
  fact('PromptAccepted', { promptId, turnId, messageId: promptId, mode, parts: [{ type: 'text', text: 'x' }] });
const run = (runId = 'r') => fact('RunStarted', { runId, turnId: 't', deciderVersion: 1 });
const step = (index = 0, joined: string[] = ['p']) => fact('StepStarted', { stepId: `s${index}`, index, joined, view });
const answer = (...calls: string[]) =>
  fact('ModelAnswered', {
    ...asked,
    stepId: 's0',
    messageId: 'a',
    parts: calls.map((callId) => ({ type: 'tool-call', callId, name: 'tool', input: {} })),
    usage: noUsage,
    finish: { unified: calls.length > 0 ? 'tool-calls' : 'stop' },
  });
const decided = (callId: string, effect: EffectContract = 'read', decision: 'allow' | 'deny' = 'allow') =>
  fact('ToolCallDecided', {
    callId,
    name: 'tool',
    origin: 'model',
    decision,
    gates: [],
    policy: digest,
    effect,
    argumentDigest: digest,
  });
const started = (callId: string, effect: EffectContract = 'read', attempt = 1) =>
  fact('ToolCallStarted', { callId, attempt, origin: 'model', effect, idempotencyKey: callId, argumentDigest: digest });
const settled = (callId: string) => fact('ToolCallSettled', { callId, status: 'completed', output: 'o', endedAt: 0 });
const stop = fact('StopRequested', { turnId: 't' });
const failed = (retryable: boolean) =>
  fact('ModelCallFailed', {
    ...asked,
    stepId: 's0',
    failure: { code: 'PERDURE_MODEL_UNAVAILABLE', message: 'm' },
    retryable,
  });
const closed = fact('StepCheckpointed', { stepId: 's0', index: 0, usage: noUsage });

function given(...facts: readonly CoreFact[]) {
  const fold = (state: SessionState, { type, payload }: CoreFact, revision: number): SessionState =>
    evolve(state, type, payload as never, { revision, time: 0 });
  const state = facts.reduce(fold, initialState);
  return { then: (process = idle) => nextIntent(state, limits, process) };
}

const running = [taken(1), prompt(), run()];

describe('the decider', () => {
  test.each<[string, CoreFact[], object]>([
    ['nothing', [taken(1)], { do: 'rest' }],
    ['a prompt', [taken(1), prompt()], { do: 'start-run' }],
    ['a run', running, { do: 'start-step', joined: ['p'] }],
    ['a step', [...running, step()], { do: 'ask-model', attempt: 1 }],
    ['a failed try', [...running, step(), failed(true)], { do: 'ask-model', attempt: 2 }],
    [
      'as many failed tries as there may be',
      [...running, step(), failed(true), failed(true)],
      { do: 'end-run', status: 'failed' },
    ],
    [
      'a failure that no other try would mend',
      [...running, step(), failed(false)],
      { do: 'end-run', status: 'failed' },
    ],
    ['an answer', [...running, step(), answer()], { do: 'checkpoint-step' }],
    ['a last answer', [...running, step(), answer(), closed], { do: 'end-run', status: 'completed' }],
    [
      'a last answer and a steer',
      [...running, step(), answer(), closed, prompt('q', 'steer')],
      { do: 'start-step', joined: ['q'] },
    ],
    [
      'a change at a boundary',
      [...running, fact('ChangeRequested', { changeId: 'c', change: { kind: 'model', model: 'x' } })],
      { do: 'apply-change' },
    ],
    [
      'a change in a step',
      [...running, step(), fact('ChangeRequested', { changeId: 'c', change: { kind: 'model', model: 'x' } })],
      { do: 'ask-model' },
    ],
    [
      'as many steps as there may be',
      [...running, step(2), answer('c'), decided('c'), started('c'), settled('c'), closed],
      { do: 'end-run', failure: { code: 'PERDURE_TURN_STEP_LIMIT' } },
    ],
  ])('after %s', (_, facts, expected) => {
    expect(given(...facts).then()).toMatchObject(expected);
  });

  test('asks the gates about all calls before any starts', () => {
    expect(given(...running, step(), answer('c', 'd'), decided('c')).then()).toMatchObject({
      do: 'decide-call',
      call: { callId: 'd' },
    });
  });

  test('starts calls that only read together, and others one after the other in the order of the model', () => {
    const reads = [...running, step(), answer('c', 'd'), decided('c'), decided('d')];
    expect(given(...reads, started('c')).then()).toMatchObject({ do: 'start-call', call: { callId: 'd' } });
    const mixed = [...running, step(), answer('c', 'd'), decided('c'), decided('d', 'once')];
    expect(given(...mixed, started('c')).then()).toMatchObject({ do: 'run-calls', calls: [{ callId: 'c' }] });
    expect(given(...mixed, started('c'), settled('c')).then()).toMatchObject({
      do: 'start-call',
      call: { callId: 'd' },
    });
  });

  test('settles what was denied and starts the rest', () => {
    const facts = [...running, step(), answer('c', 'd'), decided('c', 'once', 'deny'), decided('d')];
    expect(given(...facts).then()).toMatchObject({ do: 'settle-denied', call: { callId: 'c' } });
  });
});

describe('a stop', () => {
  test('ends a run at a boundary, and a step that was not answered', () => {
    expect(given(...running, stop).then()).toMatchObject({ do: 'end-run', status: 'cancelled' });
    expect(given(...running, step(), stop).then()).toMatchObject({ do: 'end-run', status: 'cancelled' });
  });

  test('lets no call start: those that run are waited for, the others are settled', () => {
    const facts = [
      ...running,
      step(),
      answer('c', 'd'),
      decided('c', 'once'),
      decided('d', 'once'),
      started('c', 'once'),
    ];
    expect(given(...facts, stop).then()).toMatchObject({ do: 'settle-cancelled', call: { callId: 'd' } });
    expect(given(...running, step(), answer('c'), stop).then()).toMatchObject({
      do: 'settle-cancelled',
      call: { callId: 'c' },
    });
  });
});

describe('after a take-over', () => {
  const open = (effect: EffectContract) => [
    ...running,
    step(),
    answer('c'),
    decided('c', effect),
    started('c', effect),
    taken(2),
  ];
  const resumed = fact('RunEnded', { runId: 'r', turnId: 't', status: 'superseded', steps: 1, usage: noUsage });
  const again = fact('RunStarted', { runId: 'r2', turnId: 't', deciderVersion: 1, resumedFrom: 'r' });

  test('the run of the dead owner ends and another begins', () => {
    expect(given(...running, taken(2)).then()).toMatchObject({ do: 'recover-run', runId: 'r' });
    expect(given(...running, taken(2), resumed).then()).toMatchObject({ do: 'start-run' });
  });

  test.each<[EffectContract, object]>([
    ['read', { do: 'start-call', attempt: 2 }],
    ['idempotent', { do: 'start-call', attempt: 2 }],
    ['reconcile', { do: 'reconcile-call' }],
    ['once', { do: 'settle-unknown' }],
  ])('a call of contract "%s" that was left open is treated by its contract', (effect, expected) => {
    expect(given(...open(effect), resumed, again).then()).toMatchObject(expected);
  });

  test('a call that its tool calls void runs again, and one that runs here is waited for', () => {
    const facts = [...open('reconcile'), resumed, again];
    expect(given(...facts).then({ ...idle, voided: new Set(['c']) })).toMatchObject({ do: 'start-call', attempt: 2 });
    expect(given(...open('once'), resumed, again).then({ ...idle, underWay: new Set(['c']) })).toMatchObject({
      do: 'run-calls',
    });
  });

  test('an answer that was stored is not asked for again; a step without one gives way to another', () => {
    expect(given(...running, step(), answer(), taken(2), resumed, again).then()).toMatchObject({
      do: 'checkpoint-step',
    });
    expect(given(...running, step(), taken(2), resumed, again).then()).toMatchObject({ do: 'start-step' });
  });
});
