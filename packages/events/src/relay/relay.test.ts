import { describe, expect, test } from 'vitest';
import type { RecordedFact } from '../fact-registry.js';
import {
  decodeRelayMessage,
  evolveSessionRow,
  FactSieve,
  relayColumns,
  relayMessage,
  type SessionRow,
} from './index.js';

const TIME = Date.UTC(2026, 0, 31, 12);

function fact(type: string, payload: object | string, more: Partial<RecordedFact> = {}): RecordedFact {
  const metadata = {
    sessionId: 's1',
    agentTemplateId: 'support',
    actor: { kind: 'model' },
    lane: 'owner',
    epoch: 2,
    time: TIME,
    schemaVersion: 3,
  };
  return {
    stream: 'session-acme.s1',
    revision: 7,
    position: '0000000000000042',
    id: '7a2a8d8e-6b5c-4f57-9f6e-0d8c4b3f2a11',
    type,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    metadata: JSON.stringify(metadata),
    ...more,
  };
}

const usage = { inputTokens: 120, outputTokens: 30 };

describe('columns of a relayed fact', () => {
  test('a model call has tokens, times and the model', () => {
    const times = { startedAt: TIME, firstDeltaAt: TIME + 250, endedAt: TIME + 1_000 };
    const model = { purpose: 'step', model: 'fast', provider: 'p', modelId: 'm-1' };
    expect(
      relayColumns(fact('ModelAnswered', { ...times, ...model, usage, finish: { unified: 'stop' } })),
    ).toMatchObject({
      session_id: 's1',
      tenant: 'acme',
      type: 'ModelAnswered',
      schema_version: 3,
      revision: 7,
      occurred_at: '2026-01-31T12:00:00.000Z',
      agent_template_id: 'support',
      model: 'fast',
      model_id: 'm-1',
      status: 'stop',
      tokens_in: 120,
      tokens_out: 30,
      duration_ms: 1_000,
      first_token_ms: 250,
      cost_micros: null,
    });
  });

  test('tokens and costs stand where they are made, so that sums count them once', () => {
    expect(relayColumns(fact('RunEnded', { status: 'completed', usage })).tokens_in).toBeNull();
    const settled = { sessionId: 'child', amount: { tokens: 5, micros: 900, calls: 1 } };
    const columns = relayColumns(fact('BudgetSettled', settled, { stream: 'budget-acme.s1', metadata: '{}' }));
    expect(columns).toMatchObject({ session_id: 'child', tenant: 'acme', cost_micros: 900, occurred_at: null });
  });

  test('a payload that is a plugin’s, ciphertext or no JSON at all has no columns of its own', () => {
    expect(relayColumns(fact('weather/Asked', { callId: 'x', status: 'hot' }))).toMatchObject({
      call_id: null,
      status: null,
      session_id: 's1',
    });
    expect(relayColumns(fact('ModelAnswered', { enc: 'a', keyId: 'k', bytes: 'AA' })).tokens_in).toBeNull();
    expect(relayColumns(fact('ModelAnswered', 'nonsense', { metadata: '[' }))).toMatchObject({ session_id: 's1' });
  });
});

describe('a relayed message', () => {
  const stored = fact('ToolCallSettled', '{"callId": "c1",  "status":"failed"}');
  const options = { source: '/perdure/main', prevRevision: 6 };

  test('has the attributes of a CloudEvent as headers and the fact byte for byte', () => {
    const message = relayMessage(stored, options);
    expect(message.key).toBe('acme.s1');
    expect(message.headers).toEqual({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: stored.id,
      ce_source: '/perdure/main',
      ce_type: 'dev.perdure.ToolCallSettled.v3',
      ce_subject: 'acme.s1',
      ce_time: '2026-01-31T12:00:00.000Z',
      ce_dataschema: 'urn:perdure:schema:ToolCallSettled:v3',
      ce_stream: 'session-acme.s1',
      ce_revision: '7',
      ce_prevrevision: '6',
      ce_position: stored.position,
      ce_tenant: 'acme',
    });
    const decoded = decodeRelayMessage(message);
    expect(decoded).toMatchObject({ ok: true, received: { type: 'ToolCallSettled', version: 3, prevRevision: 6 } });
    expect(decoded.ok && decoded.received.fact).toEqual(stored);
  });

  test('a stub has place and columns, and tells where the fact is', () => {
    const stub = relayMessage(stored, { ...options, deadLetter: 'dlq/0/12' });
    const decoded = decodeRelayMessage({ ...stub, value: new TextEncoder().encode(stub.value) });
    expect(decoded).toMatchObject({ ok: true, received: { revision: 7, prevRevision: 6, deadLetter: 'dlq/0/12' } });
    expect(decoded.ok && decoded.received.fact).toBeUndefined();
    expect(JSON.parse(stub.value)).toMatchObject({ status: 'failed', dead_letter: 'dlq/0/12', fact: null });
  });

  test('facts of a budget come with the messages of its root session, in a stream of their own', () => {
    const message = relayMessage(fact('BudgetSettled', {}, { stream: 'budget-acme.s1' }), { source: '/perdure/main' });
    expect(message.key).toBe('acme.s1');
    expect(message.headers).toMatchObject({ ce_stream: 'budget-acme.s1' });
    expect(message.headers).not.toHaveProperty('ce_prevrevision');
  });

  test.each([
    ['ce_type', { ce_type: 'ToolCallSettled' }],
    ['ce_stream', { ce_stream: undefined }],
    ['ce_revision', { ce_revision: '-1' }],
    ['ce_prevrevision', { ce_prevrevision: 'six' }],
  ])('a message with a wrong %s is named by it', (field, headers) => {
    const message = relayMessage(stored, options);
    const decoded = decodeRelayMessage({ value: message.value, headers: { ...message.headers, ...headers } });
    expect(decoded).toMatchObject({ ok: false, field });
  });

  test('a tombstone and other values are no facts', () => {
    const { headers } = relayMessage(stored, options);
    for (const value of [null, '[]', '{', '{}'])
      expect(decodeRelayMessage({ headers, value })).toMatchObject({ ok: false, field: 'value' });
  });
});

describe('the sieve', () => {
  const at = (revision: number, prevRevision?: number, stream = 'session-_.a') =>
    prevRevision === undefined ? { stream, revision } : { stream, revision, prevRevision };

  test('drops what comes again, in whatever pieces, and misses nothing', () => {
    const sieve = new FactSieve({ complete: true });
    const sent = [at(0), at(1, 0), at(2, 1), at(1, 0), at(2, 1), at(3, 2), at(0), at(4, 3)];
    expect(sent.map((message) => sieve.take(message).kind)).toEqual([
      'new',
      'new',
      'new',
      'double',
      'double',
      'new',
      'double',
      'new',
    ]);
  });

  test('a lost message is a gap; one that was erased before it was relayed is none', () => {
    const sieve = new FactSieve({ complete: true });
    sieve.take(at(0));
    expect(sieve.take(at(2, 1))).toEqual({ kind: 'gap', after: 0, before: 1 });
    expect(sieve.take(at(3, 2))).toEqual({ kind: 'new' });
    expect(sieve.take(at(9))).toEqual({ kind: 'new' });
  });

  test('a stream that begins in its middle is a gap only for a reader that has been there from the beginning', () => {
    expect(new FactSieve({ complete: true }).take(at(5, 4))).toEqual({ kind: 'gap', after: undefined, before: 4 });
    expect(new FactSieve().take(at(5, 4))).toEqual({ kind: 'new' });
  });

  test('goes on from its state', () => {
    const first = new FactSieve();
    first.take(at(0));
    first.take(at(1, 0));
    const next = new FactSieve({ state: first.state(), complete: true });
    expect(next.take(at(1, 0)).kind).toBe('double');
    expect(next.take(at(2, 1)).kind).toBe('new');
  });
});

describe('the row of a session', () => {
  const rows = (facts: readonly RecordedFact[]): SessionRow | null => {
    let row: SessionRow | null = null;
    for (const [revision, each] of facts.entries()) row = evolveSessionRow(row ?? undefined, { ...each, revision });
    return row;
  };
  const created = fact('SessionCreated', { agentId: 'helper', title: 'T', labels: { agentTemplateId: 'support' } });
  const prompt = fact('PromptAccepted', { turnId: 't1', promptId: 'p1', mode: 'turn' });

  test('counts and tells what is open', () => {
    expect(rows([created, prompt])).toMatchObject({ status: 'running', turns: 1, agent_id: 'helper', title: 'T' });
    const asked = [created, prompt, fact('ModelAnswered', { usage }), fact('ApprovalRequested', { callId: 'c1' })];
    expect(rows(asked)).toMatchObject({ status: 'waiting', tokens_in: 120, revision: 3 });
    const settled = [...asked, fact('ToolCallSettled', { callId: 'c1', status: 'failed' })];
    const ended = [...settled, fact('RunEnded', { turnId: 't1', status: 'completed' }), fact('other/Fact', {})];
    expect(rows(ended)).toMatchObject({ status: 'idle', tool_calls: 1, tool_failures: 1, revision: 6 });
  });

  test('is gone when the session is erased', () => {
    expect(rows([created, fact('EraseRequested', { cascade: false })])).toMatchObject({ status: 'erasing' });
    expect(rows([created, fact('SessionErased', { agentId: 'helper' })])).toBeNull();
  });
});
