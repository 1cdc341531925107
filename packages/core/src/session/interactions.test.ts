import { noUsage, type CoreFact, type CoreType, type EffectContract, type PayloadOf } from '@perdure/events';
import { describe, expect, test } from 'vitest';
import { evolve } from './evolve.js';
import { waitsForPeople } from '../turn/decider.js';
import { nextExpiry, pendingInteractions } from './interactions.js';
import { initialState, type SessionState } from './session-state.js';

const digest = 'sha256:0';
const view = { setup: digest, prompt: digest, history: { messages: 0, compactions: 0, digest } };

function fact<Type extends CoreType>(type: Type, payload: PayloadOf<Type>): CoreFact {
  return { type, payload } as CoreFact;
}

const parts = ['a', 'b'].map((callId) => ({ type: 'tool-call' as const, callId, name: 'tool', input: {} }));
const asked = { model: 'm', provider: 'p', modelId: 'x', startedAt: 0, endedAt: 0, attempt: 1, stepId: 's' };
const answered: readonly CoreFact[] = [
  fact('OwnershipTaken', { node: 'n', incarnation: 'i', epoch: 1, reason: 'first' }),
  fact('PromptAccepted', { promptId: 'p', turnId: 't', messageId: 'p', mode: 'turn', parts: [] }),
  fact('RunStarted', { runId: 'r', turnId: 't', deciderVersion: 1 }),
  fact('StepStarted', { stepId: 's', index: 0, joined: ['p'], view }),
  fact('ModelAnswered', {
    ...asked,
    purpose: 'step',
    messageId: 'm',
    parts,
    usage: noUsage,
    finish: { unified: 'tool-calls' },
  }),
];
const decided = (callId: string, effect: EffectContract, more: { hasQuestions?: true } = {}) =>
  fact('ToolCallDecided', {
    ...{ callId, name: 'tool', origin: 'model', decision: 'allow', gates: [], policy: digest, effect },
    argumentDigest: digest,
    ...more,
  });
const approval = (callId: string, expiresAt: number) =>
  fact('ApprovalRequested', {
    ...{ callId, name: 'tool', input: {}, effect: 'once', argumentDigest: digest, gates: [], policy: digest },
    expiresAt,
  });
const allowed = (callId: string) =>
  fact('ApprovalResolved', { callId, argumentDigest: digest, decision: 'allow', by: 'ada' });
const questions = [{ kind: 'text' as const, id: 'why', prompt: 'Why?' }];
const question = (callId: string, expiresAt?: number) =>
  fact('QuestionAsked', {
    ...{ callId, name: 'tool', argumentDigest: digest, questions },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
const answer = (callId: string) =>
  fact('QuestionAnswered', { callId, argumentDigest: digest, by: 'ada', answers: { why: 'so' } });
const asks = (callId: string) => decided(callId, 'read', { hasQuestions: true });
const handedOver = fact('RunEnded', { runId: 'r', turnId: 't', status: 'handed-over', steps: 1, usage: noUsage });
const started = (callId: string) =>
  fact('ToolCallStarted', {
    ...{ callId, attempt: 1, origin: 'model', effect: 'read', idempotencyKey: callId, argumentDigest: digest },
  });

function folded(...facts: readonly CoreFact[]): SessionState {
  const fold = (state: SessionState, { type, payload }: CoreFact, revision: number): SessionState =>
    evolve(state, type, payload as never, { revision, time: 7 });
  return [...answered, ...facts].reduce(fold, initialState);
}

describe('a session', () => {
  test.each<[string, readonly CoreFact[], boolean]>([
    ['whose gates have not answered', [], false],
    ['of whose calls one is asked about and one not', [approval('a', 9)], false],
    ['whose calls are all asked about', [approval('a', 9), approval('b', 9)], true],
    [
      'that is asked about, and has another call that may run behind it',
      [approval('a', 9), decided('b', 'once')],
      true,
    ],
    ['of whose approvals one is there', [approval('a', 9), approval('b', 9), allowed('a')], false],
    ['that is to ask', [asks('a'), decided('b', 'once')], false],
    ['whose question holds up the call behind it', [asks('a'), decided('b', 'once'), question('a')], true],
    ['whose question lets another call run', [asks('a'), decided('b', 'read'), question('a')], false],
    ['whose other call runs', [asks('a'), decided('b', 'read'), question('a'), started('b')], false],
    ['whose questions both wait', [asks('a'), asks('b'), question('a'), question('b')], true],
    ['whose question has an answer', [asks('a'), asks('b'), question('a'), question('b'), answer('b')], false],
    ['that was handed over while it waits', [asks('a'), asks('b'), question('a'), question('b'), handedOver], true],
    [
      'that is told to stop',
      [asks('a'), asks('b'), question('a'), question('b'), fact('StopRequested', { turnId: 't' })],
      false,
    ],
  ])('%s waits for people alone: %#', (_, facts, expected) => {
    expect(waitsForPeople(folded(...facts))).toBe(expected);
  });

  test('tells what waits in the order of the calls, and when the first of it expires', () => {
    const state = folded(asks('b'), question('b', 8), approval('a', 9));
    expect(pendingInteractions(state)).toMatchObject([
      { kind: 'approval', id: 'a', requestedAt: 7, expiresAt: 9 },
      { kind: 'question', id: 'b', requestedAt: 7, expiresAt: 8, questions, title: null },
    ]);
    expect(nextExpiry(state)).toBe(8);
    expect(nextExpiry(folded(asks('b'), question('b', 8), approval('a', 9), answer('b')))).toBe(9);
    expect(nextExpiry(folded(asks('b'), question('b')))).toBeUndefined();
  });
});
