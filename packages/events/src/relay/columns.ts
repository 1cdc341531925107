import { isPluginType } from '../define-event.js';
import type { RecordedFact } from '../fact-registry.js';
import type { JsonValue } from '../json.js';
import { keyText, sessionKeyOf, type SessionKey } from '../stream-name.js';
import type { RelayColumns } from './column-schema.js';

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
