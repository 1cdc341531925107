import { describe, expect, test } from 'vitest';
import type { RecordedFact } from '../fact-registry.js';
import { relayMessage } from './message.js';
import { relaySchemas } from './relay-schemas.js';
import { evolveSessionRow } from './session-row.js';

const metadata = { sessionId: 's1', lane: 'owner', actor: { kind: 'model' }, epoch: 2, time: 1, schemaVersion: 1 };
const fact = (type: string, payload: unknown, more: Partial<RecordedFact> = {}): RecordedFact => ({
  stream: 'session-acme.s1',
  revision: 7,
  position: '0000000000000042',
  id: '7a2a8d8e-6b5c-4f57-9f6e-0d8c4b3f2a11',
  type,
  payload: JSON.stringify(payload),
  metadata: JSON.stringify(metadata),
  ...more,
});

const times = { startedAt: 1_000, firstDeltaAt: 1_250, endedAt: 2_000 };
const facts: Readonly<Record<string, RecordedFact>> = {
  'a model call': fact('ModelAnswered', { ...times, usage: { inputTokens: 1, outputTokens: 2 }, model: 'fast' }),
  'a call of a tool': fact('ToolCallSettled', { callId: 'c', status: 'failed', failure: { code: 'X' }, endedAt: 3 }),
  'costs in the stream of a budget': fact('BudgetSettled', { amount: { micros: 9 } }, { stream: 'budget-_.s1' }),
  "a plugin's fact": fact('weather/Seen', { temperature: 20.5 }),
  'a fact whose metadata cannot be read': fact('PromptAccepted', {}, { metadata: '[' }),
};

describe('the schemas of what is on the topics', () => {
  test.each(Object.entries(facts))('fit %s, whole and as a stub, with no member too many', (_, stored) => {
    for (const more of [{}, { prevRevision: 6 }, { deadLetter: 'letters/0/3' }]) {
      const { headers, value } = relayMessage(stored, { source: '/perdure/main', ...more });
      expect(relaySchemas['fact-message.v1'].strict().parse(JSON.parse(value))).toEqual(JSON.parse(value));
      expect(relaySchemas['fact-headers.v1'].strict().parse(headers)).toEqual(headers);
    }
  });

  test('fit the row of a session', () => {
    const opened = { turnId: 't', promptId: 'p', mode: 'turn' };
    const created = evolveSessionRow(undefined, fact('SessionCreated', { agentId: 'helper', title: 'T' }));
    const row = evolveSessionRow(created ?? undefined, fact('PromptAccepted', opened));
    expect(row).toMatchObject({ status: 'running', open_turns: [{ turn_id: 't', prompt_id: 'p' }] });
    expect(relaySchemas['session-row.v1'].strict().parse(row)).toEqual(row);
  });

  test('are open: readers pass by what was added since', () => {
    const value: unknown = JSON.parse(relayMessage(fact('Seen', {}), { source: '/perdure/main' }).value);
    expect(relaySchemas['fact-message.v1'].safeParse({ ...(value as object), region: 'north' }).success).toBe(true);
  });
});
