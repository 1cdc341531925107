import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue } from '@perdure/events';
import type { Plugin } from '@perdure/plugin-api';
import { policyApproval } from '@perdure/policy-approval';
import { policyPermission } from '@perdure/policy-permission';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { storesWith } from '../fixtures/agents.js';
import { payloads, results, waiting } from './questions.fixture.js';

const input = {
  title: 'Before I deploy',
  questions: [
    { id: 'where', question: 'Where to?', kind: 'single_select', options: [{ value: 'staging' }, { value: 'live' }] },
    {
      id: 'tell',
      question: 'Who is to be told?',
      kind: 'multi_select',
      options: [
        { value: 'team', label: 'The team' },
        { value: 'office', label: 'The office' },
      ],
      allow_free_text: true,
      max: 2,
      required: false,
    },
    { id: 'note', question: 'Anything else?', kind: 'text' },
  ],
};

async function start(
  first: JsonValue = input,
  config: object = {},
  others: readonly Plugin[] = [],
  rules: object = {},
  secrets: Readonly<Record<string, string>> = {},
) {
  const store = new MemoryEventStore();
  const model = new ScriptedModel({
    rules: [
      { when: { toolResults: 0 }, answer: { calls: [{ name: 'ask_user', input: first }] } },
      { answer: { text: 'done' } },
    ],
  });
  const runtime = await createTestRuntime({
    plugins: [
      storesWith(store),
      { plugin: policyPermission, config: rules },
      { plugin: policyApproval, config },
      ...others,
    ],
    secrets,
  });
  const agent = runtime.agent({ id: 'clerk', model });
  const session = await agent.sessions.create({ sessionId: 's' });
  return { store, model, runtime, agent, session };
}

describe('ask_user', () => {
  test('puts the questions of a model to a person, with the default rules and without an approval', async () => {
    const { store, model, runtime, agent, session } = await start();
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    expect(question).toMatchObject({
      kind: 'question',
      title: 'Before I deploy',
      questions: [
        {
          kind: 'single-select',
          id: 'where',
          prompt: 'Where to?',
          options: [{ value: 'staging', label: 'staging' }, {}],
        },
        { kind: 'multi-select', id: 'tell', isOptional: true, allowFreeText: true, max: 2 },
        { kind: 'text', id: 'note' },
      ],
    });
    const answers = { where: 'staging', tell: ['team', 'Bob'], note: 'Be quick.' };
    await session.respond({ id: question?.id ?? '', answers, by: 'ada' });
    expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
    expect(await results(session)).toMatchObject([{ status: 'completed', output: { answers } }]);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('Be quick.');
    expect(await payloads(store, 'ApprovalRequested')).toEqual([]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test.each<[string, (asked: (typeof input)['questions']) => JsonValue, string]>([
    ['none', () => [], 'questions'],
    ['nine', ([first]) => Array.from({ length: 9 }, (_, n) => ({ ...first, id: `q${n}` })) as never, 'questions'],
    ['of a select without options', () => [{ id: 'a', question: 'A?', kind: 'single_select' }], 'options'],
    ['of a kind that is none', () => [{ id: 'a', question: 'A?', kind: 'slider' }], 'kind'],
    ['with an id twice', ([first]) => [first, first] as never, 'questions'],
    ['with an id that is none', () => [{ id: 'a b', question: 'A?', kind: 'text' }], 'id'],
  ])('is told what is wrong with questions: %s', async (_, change, field) => {
    const { runtime, session } = await start({ questions: change(input.questions) });
    expect((await session.send('go')).success).toBe(true);
    const [result] = await results(session);
    expect(result).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_INPUT' } });
    expect(result?.failure?.message).toContain(field);
    await runtime.dispose();
  });

  test('is not there when it is not wanted, is denied by rules, and asked about where a rule says so', async () => {
    const none = await start(input, { askUser: false });
    expect((await none.session.send('go')).success).toBe(true);
    expect(await results(none.session)).toMatchObject([{ failure: { code: 'PERDURE_TOOL_UNKNOWN' } }]);
    await none.runtime.dispose();
    const denied = await start(input, {}, [], { deny: ['ask_user'] });
    expect((await denied.session.send('go')).success).toBe(true);
    expect(await results(denied.session)).toMatchObject([{ status: 'denied' }]);
    await denied.runtime.dispose();
    const asked = await start(input, {}, [], { ask: ['ask_user'] });
    const turn = await asked.session.prompt('go');
    const [approval] = await waiting(asked.session, 1);
    expect(approval?.kind).toBe('approval');
    await asked.session.respond({ id: approval?.id ?? '', decision: 'deny', by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    await asked.runtime.dispose();
  });

  test('asks what a hook rewrote, and what it is asked and told is redacted before it is stored', async () => {
    const { store, runtime, agent, session } = await start(input, {}, [], {}, { PIN: 'pin-1234' });
    const options = [{ value: 'pin-1234', label: 'the old one' }];
    const args = { questions: [{ id: 'which', question: 'Is it pin-1234?', kind: 'single_select', options }] };
    session.registerHook('rewrite', 'pre_tool_use', null, null, () => ({ modified: { args } }));
    const turn = await session.prompt('go');
    const [question] = await waiting(session, 1);
    const asked = { prompt: 'Is it secret://PIN?', options: [{ value: 'secret://PIN' }] };
    expect(question).toMatchObject({ questions: [asked] });
    await session.respond({ id: question?.id ?? '', answers: { which: 'pin-1234' }, by: 'ada' });
    expect((await turn.finished).success).toBe(true);
    expect(await results(session)).toMatchObject([{ output: { answers: { which: 'secret://PIN' } } }]);
    expect(JSON.stringify((await store.read('session-_.s')).facts)).not.toContain('pin-1234');
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('expires with the other requests, and the model learns that nobody answered', async () => {
    const { runtime, session } = await start(input, { expiresInMs: 30 });
    expect((await session.send('go')).success).toBe(true);
    expect(await results(session)).toMatchObject([{ status: 'failed', failure: { code: 'PERDURE_TOOL_UNANSWERED' } }]);
    await runtime.dispose();
  });
});
