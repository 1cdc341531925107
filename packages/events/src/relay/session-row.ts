import type { JsonValue } from '../json.js';
import type { RecordedFact } from '../fact-registry.js';
import type { RelayColumns } from './column-schema.js';
import { membersOf, recordAt, relayColumns, textAt } from './columns.js';
import type { SessionRow } from './row-schema.js';

type Payload = Readonly<Record<string, JsonValue>>;
type Change = Partial<SessionRow>;

/** Types of which the row takes more than their columns. */
const NEEDS_PAYLOAD = new Set([
  'SessionCreated',
  'SessionForked',
  'SessionRelabeled',
  'SessionTitled',
  'PromptAccepted',
  'PromptCancelled',
]);

/**
 * The row after a fact of a session stream, in order from the first; `null` when the session is erased. Pure, and
 * tolerant: a fact that it does not know moves `revision`, `position` and `updated_at`. `columns` are those of the
 * fact, where they are known already.
 */
export function evolveSessionRow(
  row: SessionRow | undefined,
  fact: RecordedFact,
  columns: RelayColumns = relayColumns(fact),
): SessionRow | null {
  if (fact.type === 'SessionErased') return null;
  const before = row ?? firstRow(columns);
  const payload = NEEDS_PAYLOAD.has(fact.type) ? membersOf(fact.payload) : {};
  const { revision, position } = fact;
  const updated_at = columns.occurred_at ?? before.updated_at;
  const after = { ...before, revision, position, updated_at, ...changeBy(before, columns, payload) };
  return { ...after, status: statusOf(after) };
}

function firstRow({ session_id, tenant, occurred_at, revision, position }: RelayColumns): SessionRow {
  return {
    session_id,
    tenant,
    agent_id: null,
    agent_template_id: null,
    principal: null,
    correlation_id: null,
    parent_session_id: null,
    forked_from_session_id: null,
    title: null,
    status: 'idle',
    created_at: occurred_at,
    updated_at: occurred_at,
    revision,
    position,
    turns: 0,
    last_run_status: null,
    model_calls: 0,
    model_failures: 0,
    tool_calls: 0,
    tool_failures: 0,
    tokens_in: 0,
    tokens_out: 0,
    open_turns: [],
    open_questions: [],
    is_archived: false,
    is_erasing: false,
  };
}

function changeBy(row: SessionRow, columns: RelayColumns, payload: Payload): Change {
  switch (columns.type) {
    case 'SessionCreated':
    case 'SessionForked':
      return {
        ...labelsOf(payload),
        agent_id: textAt(payload, 'agentId'),
        parent_session_id: textAt(payload, 'parent'),
        forked_from_session_id: textAt(recordAt(payload, 'from'), 'session'),
        title: textAt(payload, 'title'),
      };
    case 'SessionRelabeled':
      return labelsOf(payload);
    case 'SessionTitled':
      return { title: textAt(payload, 'title') };
    case 'SessionArchived':
      return { is_archived: true };
    case 'SessionRestored':
      return { is_archived: false, is_erasing: false };
    case 'EraseRequested':
      return { is_erasing: true };
    case 'PromptAccepted':
      return textAt(payload, 'mode') === 'steer' ? {} : openTurn(row, payload);
    case 'PromptCancelled':
      return { open_turns: row.open_turns.filter((turn) => turn.prompt_id !== textAt(payload, 'promptId')) };
    case 'RunEnded':
      return endRun(row, columns);
    case 'ModelAnswered':
      return {
        model_calls: row.model_calls + 1,
        tokens_in: row.tokens_in + (columns.tokens_in ?? 0),
        tokens_out: row.tokens_out + (columns.tokens_out ?? 0),
      };
    case 'ModelCallFailed':
      return { model_failures: row.model_failures + 1 };
    default:
      return changeByCall(row, columns);
  }
}

function changeByCall(row: SessionRow, { type, call_id, status }: RelayColumns): Change {
  const others = row.open_questions.filter((call) => call !== call_id);
  switch (type) {
    case 'ToolCallSettled':
      return {
        tool_calls: row.tool_calls + 1,
        tool_failures: row.tool_failures + (status === 'failed' ? 1 : 0),
        open_questions: others,
      };
    case 'ApprovalRequested':
    case 'QuestionAsked':
      return call_id === null ? {} : { open_questions: [...others, call_id] };
    case 'ApprovalResolved':
    case 'QuestionAnswered':
      return { open_questions: others };
    default:
      return {};
  }
}

function openTurn(row: SessionRow, payload: Payload): Change {
  const [turn_id, prompt_id] = [textAt(payload, 'turnId') ?? '', textAt(payload, 'promptId') ?? ''];
  return { turns: row.turns + 1, open_turns: [...row.open_turns, { turn_id, prompt_id }] };
}

const ENDS_TURN = new Set(['completed', 'failed', 'cancelled']);

function endRun(row: SessionRow, { turn_id, status }: RelayColumns): Change {
  if (status === null || !ENDS_TURN.has(status)) return { last_run_status: status };
  return { last_run_status: status, open_turns: row.open_turns.filter((turn) => turn.turn_id !== turn_id) };
}

function labelsOf(payload: Payload): Change {
  const labels = recordAt(payload, 'labels');
  return {
    agent_template_id: textAt(labels, 'agentTemplateId'),
    principal: textAt(labels, 'principal'),
    correlation_id: textAt(labels, 'correlationId'),
  };
}

function statusOf({ is_archived, is_erasing, open_questions, open_turns }: SessionRow): SessionRow['status'] {
  if (is_erasing) return 'erasing';
  if (is_archived) return 'archived';
  if (open_questions.length > 0) return 'waiting';
  return open_turns.length > 0 ? 'running' : 'idle';
}
