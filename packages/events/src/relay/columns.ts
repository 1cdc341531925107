import { isPluginType } from '../define-event.js';
import type { RecordedFact } from '../fact-registry.js';
import type { JsonValue } from '../json.js';
import { keyText, sessionKeyOf, type SessionKey } from '../stream-name.js';

/**
 * The flat columns of a fact for analytics, each with one meaning in all types. `null` where a fact has none. Names and
 * meanings are never changed; columns may be added.
 */
export interface RelayColumns {
  readonly event_id: string;
  readonly stream: string;
  /** The session that the fact is about. */
  readonly session_id: string | null;
  /** The isolating tenant of the stream's key. */
  readonly tenant: string | null;
  readonly type: string;
  readonly schema_version: number | null;
  /** The place in the stream, from 0. */
  readonly revision: number;
  /** The place in the store; sorts as text. */
  readonly position: string;
  /** UTC, with milliseconds: `2026-01-31T12:00:00.000Z`. */
  readonly occurred_at: string | null;
  readonly epoch: number | null;
  readonly lane: string | null;
  readonly actor_kind: string | null;
  readonly actor_id: string | null;
  readonly principal: string | null;
  readonly agent_template_id: string | null;
  readonly correlation_id: string | null;
  readonly causation_id: string | null;
  readonly turn_id: string | null;
  readonly run_id: string | null;
  readonly step_id: string | null;
  /** The call of a tool. */
  readonly call_id: string | null;
  /** Only where a call is decided: other facts of it have the same `call_id`. */
  readonly tool_name: string | null;
  /** The name that the host gave the model, who provides it, and its id there. Only of model calls. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly model_id: string | null;
  /** What a model call was for. */
  readonly purpose: string | null;
  /** How what the fact ends has ended, in the words of its type. */
  readonly status: string | null;
  readonly error_code: string | null;
  /** Of one model call. Sums over them count each token once. */
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  /** Millionths of the currency of the prices, of one settled part of a budget. Sums count each once. */
  readonly cost_micros: number | null;
  /** From the start to the end of a model call or a tool. */
  readonly duration_ms: number | null;
  /** From the start of a model call to the first piece of its answer. */
  readonly first_token_ms: number | null;
  /** `<topic>/<partition>/<offset>` of what the fact says, when it was too large for its place. */
  readonly dead_letter: string | null;
}

type Members = Readonly<Record<string, JsonValue>>;
const NONE: Members = {};

/**
 * The columns of a stored fact. Never throws: what cannot be read is `null`. A payload that is a plugin's or ciphertext
 * has no columns of its own.
 */
export function relayColumns(fact: RecordedFact): RelayColumns {
  const metadata = membersOf(fact.metadata);
  const payload = isPluginType(fact.type) ? NONE : membersOf(fact.payload);
  const actor = recordAt(metadata, 'actor');
  const key = relaySessionKey(fact.stream);
  const isModelCall = fact.type.startsWith('ModelCall') || fact.type === 'ModelAnswered';
  const usage = fact.type === 'ModelAnswered' ? recordAt(payload, 'usage') : NONE;
  const amount = fact.type === 'BudgetSettled' ? recordAt(payload, 'amount') : NONE;
  return {
    event_id: fact.id,
    stream: fact.stream,
    session_id: textAt(metadata, 'sessionId') ?? textAt(payload, 'sessionId') ?? key?.id ?? null,
    tenant: key?.tenant ?? null,
    type: fact.type,
    schema_version: numberAt(metadata, 'schemaVersion'),
    revision: fact.revision,
    position: fact.position,
    occurred_at: instantOf(numberAt(metadata, 'time')),
    epoch: numberAt(metadata, 'epoch'),
    lane: textAt(metadata, 'lane'),
    actor_kind: textAt(actor, 'kind'),
    actor_id: textAt(actor, 'id'),
    principal: textAt(metadata, 'principal'),
    agent_template_id: textAt(metadata, 'agentTemplateId'),
    correlation_id: textAt(metadata, 'correlationId'),
    causation_id: textAt(metadata, 'causationId'),
    turn_id: textAt(metadata, 'turnId') ?? textAt(payload, 'turnId'),
    run_id: textAt(metadata, 'runId') ?? textAt(payload, 'runId'),
    step_id: textAt(metadata, 'stepId') ?? textAt(payload, 'stepId'),
    call_id: textAt(payload, 'callId'),
    tool_name: fact.type === 'ToolCallDecided' ? textAt(payload, 'name') : null,
    model: isModelCall ? textAt(payload, 'model') : null,
    provider: isModelCall ? textAt(payload, 'provider') : null,
    model_id: isModelCall ? textAt(payload, 'modelId') : null,
    purpose: isModelCall ? textAt(payload, 'purpose') : null,
    status: textAt(payload, 'status') ?? textAt(payload, 'decision') ?? textAt(recordAt(payload, 'finish'), 'unified'),
    error_code: textAt(recordAt(payload, 'failure'), 'code'),
    tokens_in: numberAt(usage, 'inputTokens'),
    tokens_out: numberAt(usage, 'outputTokens'),
    cost_micros: numberAt(amount, 'micros'),
    duration_ms: between(numberAt(payload, 'startedAt'), numberAt(payload, 'endedAt')),
    first_token_ms: between(numberAt(payload, 'startedAt'), numberAt(payload, 'firstDeltaAt')),
    dead_letter: null,
  };
}

const BUDGET = 'budget-';

/** The key of the session whose messages the facts of a stream come among; a budget's is that of its root session. */
export function relaySessionKey(stream: string): SessionKey | undefined {
  return sessionKeyOf(stream.startsWith(BUDGET) ? `session-${stream.slice(BUDGET.length)}` : stream);
}

/** The key of a stream's messages. */
export function relayMessageKey(stream: string): string {
  const key = relaySessionKey(stream);
  return key === undefined ? stream : keyText(key);
}

/** The members of a JSON object's text; none when it is something else. */
export function membersOf(text: string): Members {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isRecord(value) ? value : NONE;
  } catch {
    return NONE;
  }
}

export function textAt(members: Members, name: string): string | null {
  const value = members[name];
  return typeof value === 'string' ? value : null;
}

export function numberAt(members: Members, name: string): number | null {
  const value = members[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function recordAt(members: Members, name: string): Members {
  const value = members[name];
  return isRecord(value) ? value : NONE;
}

function isRecord(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null` for a time outside of the years that a date can tell. */
function instantOf(time: number | null): string | null {
  if (time === null) return null;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function between(start: number | null, end: number | null): number | null {
  return start === null || end === null ? null : end - start;
}
