import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { draftStream, sessionStream } from '@perdure/events';
import type { LanguageModel, Message, Mutation } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const KEY = { id: 's' };

async function start(model: LanguageModel, runs: string[] = [], store = new MemoryEventStore()) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], leaseTtlMs: 300 });
  onTestFinished(() => runtime.dispose());
  // The first call of a group takes longer than the others.
  const slow = lookupTool(runs);
  const lookup = {
    ...slow,
    execute: async (input: { key: string }) => {
      if (input.key === 'a') await new Promise((resolve) => setTimeout(resolve, 20));
      return slow.execute(input);
    },
  };
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup } });
  const session = await agent.sessions.create({ sessionId: 's' });
  const types = async () => (await store.read(sessionStream(KEY))).facts.map(({ type }) => type);
  return { store, agent, session, types };
}

const kinds = ({ role, parts }: Message): readonly string[] => [
  role,
  ...parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return `${part.type} ${part.text}`;
    if (part.type === 'tool-call') return `call ${JSON.stringify(part.input)}`;
    return part.type === 'tool-result' ? `result ${String(part.output)}` : part.type;
  }),
];

test('the message of a person is stored before a model is asked, and seen by whoever looks [R3] [P2]', async () => {
  const inner = new ScriptedModel([{ text: 'well' }]);
  let stored: string | undefined;
  const store = new MemoryEventStore();
  const looking: LanguageModel = {
    specificationVersion: 'v3',
    provider: 'looking',
    modelId: 'looking',
    doGenerate: (options) => inner.doGenerate(options),
    doStream: async (options) => {
      const { facts } = await store.read(sessionStream(KEY));
      stored = facts.find(({ type }) => type === 'PromptAccepted')?.payload;
      return inner.doStream(options);
    },
  };
  const { session } = await start(looking, [], store);
  expect((await session.send('keep this first')).text).toBe('well');
  expect(stored).toContain('keep this first');
});

test('an answer that grows is a draft, and a message only when it is whole [R4] [R6]', async () => {
  const words = ['This ', 'is ', 'what ', 'was ', 'seen'];
  const model = new ScriptedModel([{ text: words.join(''), deltas: words, deltaDelayMs: 60 }]);
  const { store, session, types } = await start(model);
  const turn = await session.prompt('tell');
  await waitUntil(async () => (await store.read(draftStream(KEY))).facts.length > 0);
  expect((await session.messages()).items.map(({ role }) => role)).toEqual(['user']);
  expect(await types()).not.toContain('ModelAnswered');
  expect(JSON.stringify((await store.read(draftStream(KEY))).facts)).toContain('This ');
  await turn.finished;
  expect((await session.messages()).items.map(kinds)).toEqual([
    ['user', 'text tell'],
    ['assistant', `text ${words.join('')}`],
  ]);
  // What is committed needs no draft.
  await waitUntil(async () => (await store.read(draftStream(KEY))).facts.length === 0);
});

test('parts and results keep the order of the model, in messages, mutations and sequences [R5] [R18]', async () => {
  const call = (key: string) => ({ name: 'lookup', input: { key } });
  const rounds = [
    { reasoning: 'let me see', text: 'I look', calls: [call('a'), call('b'), call('c')] },
    { reasoning: 'so', text: 'it is c' },
  ];
  const runs: string[] = [];
  const { session } = await start(new ScriptedModel(scriptByRound(rounds)), runs);
  const told: Mutation[] = [];
  session.subscribe((mutation) => told.push(mutation));
  await session.send('which');
  // The first call was the last to end; nothing of that is seen.
  expect(runs).toEqual(['b', 'c', 'a']);
  const { items } = await session.messages();
  expect(items.map(kinds)).toEqual([
    ['user', 'text which'],
    ['assistant', 'reasoning let me see', 'text I look', 'call {"key":"a"}', 'call {"key":"b"}', 'call {"key":"c"}'],
    ['tool', 'result value of a', 'result value of b', 'result value of c'],
    ['assistant', 'reasoning so', 'text it is c'],
  ]);
  expect(items.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);

  const { cursor } = await session.info();
  await waitUntil(() => told.at(-1)?.cursor === cursor);
  const first = items[1]?.id;
  const parts = told.flatMap((each) => (each.variant === 'part' && each.messageId === first ? [each.part] : []));
  expect(parts.filter((part, index) => parts.indexOf(part) === index)).toEqual([0, 1, 2, 3, 4]);
  for (const { id, revision } of items) {
    const seen = told.flatMap((each) =>
      each.variant === 'message' && each.message.id === id ? [each.message.revision] : [],
    );
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(seen.at(-1)).toBe(revision);
  }
  // Fact by fact: a sequence never changes, and a revision goes up by one with each change of its message.
  let before = new Map<string, Message>();
  for (let revision = 0; revision <= (await session.info()).revision; revision++) {
    const then = (await session.at(revision)).messages().items;
    for (const message of then) {
      const last = before.get(message.id);
      expect(message.sequence).toBe(last?.sequence ?? before.size + 1);
      const isChanged = JSON.stringify(kinds(message)) !== JSON.stringify(last && kinds(last));
      expect(message.revision).toBe((last?.revision ?? 0) + (isChanged ? 1 : 0));
    }
    before = new Map(then.map((message) => [message.id, message]));
  }
  expect(items[2]?.revision).toBe(3);
});
