import { z } from 'zod';
import { jsonValue, type JsonValue } from './json.js';

/** The public wire form of facts and deltas. `type` is open: a reader keeps what it does not know. */
export const eventEnvelopeV1 = z.looseObject({
  version: z.literal(1),
  type: z.string().min(1),
  payload: z.record(z.string(), jsonValue),
  metadata: z.record(z.string(), jsonValue).exactOptional(),
});

export interface EventEnvelopeV1 {
  readonly version: 1;
  readonly type: string;
  readonly payload: Readonly<Record<string, JsonValue>>;
  /**
   * `cursor` is where a reader goes on after this event; `session_id`, `turn_id`, `run_id`, `step_id`, `revision`,
   * `event_id` and `timestamp_ms` are present where the event has them.
   */
  readonly metadata?: Readonly<Record<string, JsonValue>>;
}

export function eventEnvelopeV1Version(): 1 {
  return 1;
}

/** The result of reading an envelope from outside. `field` is the path of what is wrong. */
export type DecodedEnvelope =
  | { readonly ok: true; readonly envelope: EventEnvelopeV1 }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Reads an envelope that came from outside; another version than 1 is refused, an unknown type is kept whole. */
export function decodeEnvelope(value: unknown): DecodedEnvelope {
  const parsed = eventEnvelopeV1.safeParse(value);
  if (parsed.success) return { ok: true, envelope: parsed.data };
  const issue = parsed.error.issues[0];
  return { ok: false, field: issue?.path.join('.') ?? '', message: issue?.message ?? 'not an envelope' };
}

/** The convenience fields of an envelope, one name for the same thing in every type. */
export interface ProjectedEvent {
  readonly version: 1;
  readonly type: string;
  readonly payload: Readonly<Record<string, JsonValue>>;
  readonly metadata: Readonly<Record<string, JsonValue>> | null;
  readonly payloadJson: string;
  readonly metadataJson: string | null;
  readonly text: string | null;
  readonly toolName: string | null;
  readonly toolId: string | null;
  readonly toolOutput: string | null;
  readonly exitCode: number | null;
  readonly turn: number | null;
  readonly prompt: string | null;
  readonly error: string | null;
  readonly totalTokens: number | null;
  readonly verificationSummaryJson: string | null;
  readonly verificationSummaryText: string | null;
  readonly errorKindJson: string | null;
  /** The payload as JSON text for types that the fields above do not cover whole; `null` for the others. */
  readonly data: string | null;
}

const WHOLLY_PROJECTED = new Set([
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
]);
const TOOL_ID_TYPES = new Set(['confirmation_required', 'permission_denied', 'tool_request_bound']);
const TOOL_TYPES = new Set(['tool_start', 'tool_input_delta', 'tool_execution_start', 'tool_output_delta', 'tool_end']);

/** The same event with its convenience fields. */
export function projectEnvelope(envelope: EventEnvelopeV1): ProjectedEvent {
  const { type, payload } = envelope;
  const summary = payload['verification_summary'];
  return {
    version: 1,
    type,
    payload,
    metadata: envelope.metadata ?? null,
    payloadJson: JSON.stringify(payload),
    metadataJson: envelope.metadata === undefined ? null : JSON.stringify(envelope.metadata),
    text: textOf(type, payload),
    toolName: textAt(payload, TOOL_ID_TYPES.has(type) ? 'tool_name' : TOOL_TYPES.has(type) ? 'name' : undefined),
    toolId: textAt(payload, TOOL_ID_TYPES.has(type) ? 'tool_id' : TOOL_TYPES.has(type) ? 'id' : undefined),
    toolOutput: type === 'tool_end' ? outputText(payload['output']) : null,
    exitCode: type === 'tool_end' ? numberAt(payload, 'exit_code') : null,
    turn: type === 'turn_start' || type === 'turn_end' ? numberAt(payload, 'turn') : null,
    prompt: type === 'agent_start' || type === 'planning_start' ? textAt(payload, 'prompt') : null,
    error: type === 'error' ? textAt(payload, 'message') : null,
    totalTokens: numberAt(recordAt(payload, 'usage'), 'total_tokens'),
    verificationSummaryJson: summary === undefined ? null : JSON.stringify(summary),
    verificationSummaryText: typeof summary === 'string' ? summary : null,
    errorKindJson: payload['error_kind'] === undefined ? null : JSON.stringify(payload['error_kind']),
    data: WHOLLY_PROJECTED.has(type) ? null : JSON.stringify(payload),
  };
}

type Payload = Readonly<Record<string, JsonValue>>;

function textOf(type: string, payload: Payload): string | null {
  if (type === 'text_delta' || type === 'reasoning_delta' || type === 'agent_end') return textAt(payload, 'text');
  if (type === 'tool_input_delta' || type === 'tool_output_delta') return textAt(payload, 'delta');
  return null;
}

function textAt(payload: Payload, key: string | undefined): string | null {
  const value = key === undefined ? undefined : payload[key];
  return typeof value === 'string' ? value : null;
}

function numberAt(payload: Payload, key: string): number | null {
  const value = payload[key];
  return typeof value === 'number' ? value : null;
}

function recordAt(payload: Payload, key: string): Payload {
  const value = payload[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function outputText(output: JsonValue | undefined): string | null {
  if (output === undefined || output === null) return null;
  return typeof output === 'string' ? output : JSON.stringify(output);
}
