import type { CoreFact } from '@perdure/events';
import { expect, test } from 'vitest';
import { evolve } from '../session/evolve.js';
import { initialState, type SessionState } from '../session/session-state.js';
import { RequestHistory } from './request-history.js';

function after(state: SessionState, facts: readonly CoreFact[]): SessionState {
  return facts.reduce(
    (current, { type, payload }) => evolve(current, type, payload as never, { revision: 0, time: 0 }),
    state,
  );
}

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 2,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
const view = { setup: 's', prompt: 'p', history: { messages: 1, compactions: 0, digest: 'd' } };
const prompt = (id: string, text: string): CoreFact => ({
  type: 'PromptAccepted',
  payload: { promptId: id, turnId: 't', messageId: id, mode: 'turn', parts: [{ type: 'text', text }] },
});
const step = (joined: string[]): CoreFact => ({
  type: 'StepStarted',
  payload: { stepId: 'x', index: 0, joined, view },
});
const answered: CoreFact = {
  type: 'ModelAnswered',
  payload: {
    ...{ purpose: 'step', stepId: 'x', attempt: 1, model: 'm', provider: 'p', modelId: 'i', startedAt: 0, endedAt: 0 },
    messageId: 'x.answer',
    parts: [{ type: 'tool-call', callId: 'c', name: 'nope', input: {} }],
    usage,
    finish: { unified: 'tool-calls' },
  },
};
const settled = (status: 'denied' | 'cancelled'): CoreFact => ({
  type: 'ToolCallSettled',
  payload: { callId: 'c', status, failure: { code: status, message: status }, endedAt: 0 },
});

test('a decision that was given up leaves nothing in what models are shown next', () => {
  const begun = after(initialState, [prompt('a', 'go'), step(['a'])]);
  const givenUp = after(begun, [answered, settled('denied')]);
  const stored = after(begun, [answered, settled('cancelled'), prompt('b', 'more')]);
  const history = new RequestHistory();
  history.follow(begun, []);
  history.follow(givenUp, []);
  history.follow(stored, [3]);
  const fresh = new RequestHistory();
  fresh.follow(stored, [3]);
  expect(history.messages([])).toEqual(fresh.messages([]));
  expect(history.digest).toBe(fresh.digest);
  expect(history.characters).toBe(fresh.characters);
  expect(JSON.stringify(history.messages([]))).not.toContain('denied');
});

test('what has come is added, and nothing that was there is made again', () => {
  const begun = after(initialState, [prompt('a', 'go'), step(['a'])]);
  const history = new RequestHistory();
  history.follow(begun, []);
  const [first] = history.messages([]);
  history.follow(after(begun, [answered, settled('cancelled')]), []);
  expect(history.messages([])[0]).toBe(first);
  expect(history.length).toBe(3);
});
