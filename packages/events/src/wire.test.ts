import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { budgetDefinition, budgetTypes, isBudgetType, type BudgetType } from './budget.js';
import { coreDefinition, coreTypes, type CoreType } from './catalogue.js';
import { answerOnWire, partLength, partOnWire } from './model.js';
import { noUsage, type AnswerPart } from './parts.js';
import { present, type WireEvent, type WireLookup } from './wire.js';

/** Knows nothing, as a reader without the session does. */
const stranger: WireLookup = { promptText: () => undefined, call: () => undefined, answerText: () => undefined };
const reader: WireLookup = {
  promptText: () => 'Summarise.',
  call: () => ({ name: 'read', input: { file_path: 'a' } }),
  answerText: () => 'Done.',
};

type AnyType = CoreType | BudgetType;
const definitionOf = (type: AnyType) => (isBudgetType(type) ? budgetDefinition(type) : coreDefinition(type));

function fixture(type: AnyType): object {
  const file = new URL(`../fixtures/${type}.v${definitionOf(type).version}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly payload: object }).payload;
}

/** What leads to the other wire types of facts that have several. */
const variants: Partial<Record<AnyType, readonly object[]>> = {
  ChangeRequested: [
    { change: { kind: 'env', scope: 'agent', set: [{ name: 'A', salt: 's', digest: 'sha256:0' }], unset: ['B'] } },
    { change: { kind: 'plugins', plugins: [{ name: 'p', version: '1.0.0', digest: 'sha256:0' }] } },
  ],
  ApprovalResolved: [{ isExpiry: true }, { isExpiry: true, decision: 'allow' }],
  QuestionAnswered: [{ isExpiry: true }, { isExpiry: true, answers: {} }],
  QuestionAsked: [
    { questions: [{ kind: 'text', id: 'why', prompt: 'Why?' }] },
    {
      origin: 'nested',
      parent: 'c-0',
      questions: [
        { kind: 'text', id: 'who', prompt: 'Who?', minLength: 2, maxLength: 9 },
        { kind: 'text', id: 'age', prompt: 'How old?', format: 'integer', minimum: 0, maximum: 150 },
      ],
    },
  ],
  HistoryCompacted: [
    {
      reason: 'overflow',
      method: 'fallback',
      prompts: [2],
      tokensBefore: 9,
      tokensAfter: 3,
      window: 10,
      correction: 1,
    },
  ],
  ChildStarted: [{ model: 'main' }],
  ModelAnswered: [{ purpose: 'title' }, { parts: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }],
  RunEnded: ['completed', 'cancelled', 'handed-over', 'superseded'].map((status) => ({ status })),
  SessionCreated: [
    { parent: 'a', root: 'b' },
    { title: 'Notes', timezone: 'UTC' },
    { imported: { digest: 'sha256:1', sessionId: 'a', messages: 2 } },
  ],
  SessionForked: [{ parent: 'a', root: 'b' }],
  SessionTitled: [{ by: 'host', changeId: 'change-1' }],
  ToolCallDecided: [{ decision: 'allow', gates: [] }],
  ToolCallSettled: [{ files: [{ type: 'file', mediaType: 'image/png' }] }],
};

function payloads(type: AnyType): readonly unknown[] {
  const first = fixture(type);
  const all = [first, ...(variants[type] ?? []).map((change) => ({ ...first, ...change }))];
  return all.map((payload) => definitionOf(type).schema.parse(payload));
}

function project(type: AnyType, payload: unknown, lookup: WireLookup): readonly WireEvent[] {
  return definitionOf(type).wire.project(payload, lookup);
}

describe.each<AnyType>([...coreTypes, ...budgetTypes])('%s on the wire', (type) => {
  const declared = definitionOf(type).wire.types;

  test('has the wire types that it declares, all of them and no other [A18]', () => {
    const given = payloads(type).flatMap((payload) => project(type, payload, reader).map((event) => event.type));
    expect(new Set(given)).toEqual(new Set(declared));
    expect(new Set(declared).size).toBe(declared.length);
  });

  test('is JSON with names in snake_case, whatever the reader knows', () => {
    for (const payload of payloads(type)) {
      for (const event of [...project(type, payload, stranger), ...project(type, payload, reader)]) {
        expect(event.type).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
        expect(JSON.parse(JSON.stringify(event.payload))).toEqual(event.payload);
        for (const key of Object.keys(event.payload)) expect(key).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      }
    }
  });
});

describe('the answer of a model on the wire', () => {
  const parts: readonly AnswerPart[] = [
    { type: 'reasoning', text: 'So.' },
    { type: 'text', text: 'Hello 🙂' },
    { type: 'tool-call', callId: 'c1', name: 'read', input: { a: 1 } },
    { type: 'tool-call', callId: 'c2', name: 'read', invalidInput: '{"a"' },
    { type: 'file', mediaType: 'image/png', data: 'AAAA' },
  ];

  test('is one event for a text, two for a call, one for a file', () => {
    expect(answerOnWire(parts).map(({ type, payload }) => [type, payload])).toEqual([
      ['reasoning_delta', { text: 'So.' }],
      ['text_delta', { text: 'Hello 🙂' }],
      ['tool_start', { id: 'c1', name: 'read' }],
      ['tool_input_delta', { id: 'c1', delta: '{"a":1}' }],
      ['tool_start', { id: 'c2', name: 'read' }],
      ['tool_input_delta', { id: 'c2', delta: '{"a"' }],
      ['answer_file', { media_type: 'image/png' }],
    ]);
  });

  test('goes on at every place exactly where it was left', () => {
    const textOf = (events: readonly WireEvent[]): string =>
      events.map(({ type, payload }) => `${type}:${String(payload['text'] ?? JSON.stringify(payload))}`).join('|');
    for (const [index, part] of parts.entries()) {
      for (let offset = 0; offset <= partLength(part); offset++) {
        const rest = answerOnWire(parts, { part: index, offset });
        expect(textOf(rest)).toBe(textOf([...partOnWire(part, offset), ...answerOnWire(parts.slice(index + 1))]));
      }
      expect(partOnWire(part, partLength(part))).toEqual([]);
      expect(partOnWire(part, partLength(part) - 1)).not.toEqual([]);
    }
  });
});

test('a failed run without a failure is still an error with a code', () => {
  const payload = { runId: 'r', turnId: 't', status: 'failed', steps: 0, usage: noUsage };
  expect(project('RunEnded', payload, stranger)).toMatchObject([
    { type: 'error', payload: { code: 'PERDURE_INTERNAL', message: 'The turn failed.' } },
  ]);
});

test('members without a value are left out', () => {
  expect(present({ a: undefined, b: null, c: 0, d: '' })).toEqual({ b: null, c: 0, d: '' });
});
