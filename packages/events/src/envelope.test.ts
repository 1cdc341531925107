import { describe, expect, test } from 'vitest';
import {
  decodeEnvelope,
  eventEnvelopeV1Version,
  projectEnvelope,
  type EventEnvelopeV1,
  type ProjectedEvent,
} from './envelope.js';
import type { JsonValue } from './json.js';

function envelope(type: string, payload: Readonly<Record<string, JsonValue>> = {}): EventEnvelopeV1 {
  return { version: 1, type, payload };
}

describe('decoding an envelope', () => {
  test('keeps a known type, an unknown one and members that it does not know [A18]', () => {
    for (const type of ['agent_start', 'invented_later']) {
      const value = { version: 1, type, payload: { a: { b: [null] } }, metadata: { cursor: '7' }, extra: true };
      expect(decodeEnvelope(value)).toEqual({ ok: true, envelope: value });
    }
  });

  test.each<[string, unknown, string]>([
    ['another version', { version: 2, type: 'agent_start', payload: {} }, 'version'],
    ['a version as text', { version: '1', type: 'agent_start', payload: {} }, 'version'],
    ['no type', { version: 1, payload: {} }, 'type'],
    ['an empty type', { version: 1, type: '', payload: {} }, 'type'],
    ['no payload', { version: 1, type: 'agent_start' }, 'payload'],
    ['a list as payload', { version: 1, type: 'agent_start', payload: [] }, 'payload'],
    ['metadata that are no record', { version: 1, type: 'agent_start', payload: {}, metadata: null }, 'metadata'],
    ['a text', 'agent_start', ''],
    ['nothing', undefined, ''],
  ])('refuses %s and names the field', (_, value, field) => {
    expect(decodeEnvelope(value)).toMatchObject({ ok: false, field, message: expect.stringMatching(/./) as unknown });
  });

  test('says which version it reads', () => {
    expect(eventEnvelopeV1Version()).toBe(1);
  });
});

/** Every convenience field, each with the types that fill it and what they fill it with. */
const rows: readonly [keyof ProjectedEvent, string, Record<string, JsonValue>, string | number][] = [
  ['prompt', 'agent_start', { prompt: 'Go.' }, 'Go.'],
  ['prompt', 'planning_start', { prompt: 'Go.' }, 'Go.'],
  ['turn', 'turn_start', { turn: 2 }, 2],
  ['turn', 'turn_end', { turn: 2 }, 2],
  ['text', 'text_delta', { text: 'a' }, 'a'],
  ['text', 'reasoning_delta', { text: 'a' }, 'a'],
  ['text', 'tool_input_delta', { id: 'c', delta: '{"a"' }, '{"a"'],
  ['text', 'tool_output_delta', { id: 'c', name: 'n', delta: 'line' }, 'line'],
  ['text', 'agent_end', { text: 'Done.' }, 'Done.'],
  ['toolId', 'tool_start', { id: 'c', name: 'read' }, 'c'],
  ['toolName', 'tool_start', { id: 'c', name: 'read' }, 'read'],
  ['toolId', 'tool_input_delta', { id: 'c', delta: '' }, 'c'],
  ['toolId', 'tool_execution_start', { id: 'c', name: 'read', args: {} }, 'c'],
  ['toolName', 'tool_execution_start', { id: 'c', name: 'read', args: {} }, 'read'],
  ['toolName', 'tool_output_delta', { id: 'c', name: 'read', delta: '' }, 'read'],
  ['toolId', 'tool_end', { id: 'c', name: 'read', output: 'x' }, 'c'],
  ['toolName', 'tool_end', { id: 'c', name: 'read', output: 'x' }, 'read'],
  ['toolId', 'confirmation_required', { tool_id: 'c', tool_name: 'read' }, 'c'],
  ['toolName', 'confirmation_required', { tool_id: 'c', tool_name: 'read' }, 'read'],
  ['toolId', 'permission_denied', { tool_id: 'c', tool_name: 'read' }, 'c'],
  ['toolName', 'permission_denied', { tool_id: 'c', tool_name: 'read' }, 'read'],
  ['toolId', 'tool_request_bound', { tool_id: 'c', tool_name: 'read' }, 'c'],
  ['toolName', 'tool_request_bound', { tool_id: 'c', tool_name: 'read' }, 'read'],
  ['toolOutput', 'tool_end', { output: 'whole' }, 'whole'],
  ['toolOutput', 'tool_end', { output: { lines: [1] } }, '{"lines":[1]}'],
  ['exitCode', 'tool_end', { exit_code: 0 }, 0],
  ['error', 'error', { message: 'It broke.' }, 'It broke.'],
  ['totalTokens', 'turn_end', { usage: { total_tokens: 12 } }, 12],
  ['totalTokens', 'agent_end', { usage: { total_tokens: 12 } }, 12],
  ['verificationSummaryJson', 'agent_end', { verification_summary: { ok: true } }, '{"ok":true}'],
  ['verificationSummaryText', 'agent_end', { verification_summary: 'fine' }, 'fine'],
  ['errorKindJson', 'tool_end', { error_kind: { type: 'x' } }, '{"type":"x"}'],
];

const wholly = [
  'agent_start',
  'turn_start',
  'text_delta',
  'reasoning_delta',
  'tool_input_delta',
  'tool_output_delta',
  'tool_start',
  'turn_end',
  'agent_end',
  'error',
  'planning_start',
];

describe('the convenience fields of an envelope', () => {
  test.each(rows)('%s of %s', (field, type, payload, value) => {
    expect(projectEnvelope(envelope(type, payload))[field]).toBe(value);
  });

  test('stay empty for a type that does not fill them', () => {
    const payload = { prompt: 'p', turn: 1, text: 't', delta: 'd', id: 'i', name: 'n', tool_id: 'i', output: 'o' };
    expect(projectEnvelope(envelope('invented_later', { ...payload, message: 'm', exit_code: 1 }))).toMatchObject({
      prompt: null,
      turn: null,
      text: null,
      toolId: null,
      toolName: null,
      toolOutput: null,
      exitCode: null,
      error: null,
      totalTokens: null,
    });
  });

  test('stay empty for a value of another kind', () => {
    expect(projectEnvelope(envelope('turn_start', { turn: '2' })).turn).toBeNull();
    expect(projectEnvelope(envelope('turn_end', { usage: [1] })).totalTokens).toBeNull();
    expect(projectEnvelope(envelope('tool_end', { output: null })).toolOutput).toBeNull();
  });

  test.each(wholly)('cover the whole payload of %s', (type) => {
    expect(projectEnvelope(envelope(type, { a: 1 })).data).toBeNull();
  });

  test.each(['tool_end', 'tool_execution_start', 'permission_denied', 'session_created', 'invented_later'])(
    'leave the payload of %s as text',
    (type) => {
      expect(projectEnvelope(envelope(type, { a: [1] })).data).toBe('{"a":[1]}');
    },
  );

  test('repeat payload and metadata, as values and as text', () => {
    const metadata = { cursor: '7', revision: 3 };
    expect(projectEnvelope({ ...envelope('error', { message: 'm' }), metadata })).toMatchObject({
      version: 1,
      type: 'error',
      payload: { message: 'm' },
      payloadJson: '{"message":"m"}',
      metadata,
      metadataJson: JSON.stringify(metadata),
    });
    expect(projectEnvelope(envelope('error'))).toMatchObject({ metadata: null, metadataJson: null });
  });
});
