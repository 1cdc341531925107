import { noUsage } from '../parts.js';
import { SNAPSHOT_VERSION } from './snapshot.js';

type Members = Readonly<Record<string, unknown>>;

type Brought = { readonly value: Members } | { readonly fault: { readonly field: string; readonly reason: string } };

/**
 * Brings what is no aggregate of this build into its form. There are two such forms: a session alone, as stores kept
 * it before the aggregate, and messages of `role` and `content` in the place of `parts`. A value of neither is given
 * back as it is.
 */
export function fromOtherForm(value: Members): Brought {
  const isAlone = !('schema_version' in value) && typeof value['id'] === 'string' && Array.isArray(value['messages']);
  const aggregate: Members = isAlone ? { ...EMPTY, session: value } : value;
  const session = record(aggregate['session']);
  const messages = session?.['messages'];
  if (session === undefined || !Array.isArray(messages) || !messages.some(isOther)) {
    return { value: isAlone ? { ...aggregate, session: withDefaults(session ?? {}) } : aggregate };
  }
  const createdAt = typeof session['created_at'] === 'number' ? session['created_at'] * 1_000 : 0;
  const brought: unknown[] = [];
  let turns = 0;
  const names = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const given = isOther(message) ? messagesOf(message, names) : [message];
    if (typeof given === 'string') return { fault: { field: `session.messages.${index}.content`, reason: given } };
    for (const one of given) {
      if (!isOther(message)) brought.push(one);
      else {
        if ((one as Members)['role'] === 'user') turns += 1;
        brought.push({ ...about(brought.length + 1, turns, createdAt), ...(one as Members) });
      }
    }
  }
  return {
    value: {
      ...aggregate,
      run_records: flatRuns(aggregate['run_records']),
      session: withDefaults({ ...session, messages: brought }),
    },
  };
}

const EMPTY: Members = {
  schema_version: SNAPSHOT_VERSION,
  artifacts: [],
  retained_artifact_uris: [],
  trace_events: [],
  run_records: [],
  verification_reports: [],
  subagent_tasks: [],
};

/** What a session of another system need not say. */
function withDefaults(session: Members): Members {
  const config = record(session['config']) ?? {};
  return {
    state: 'Unknown',
    model_name: null,
    tool_names: [],
    created_at: 0,
    updated_at: 0,
    ...session,
    total_usage: usageOf(session['total_usage']),
    config: { name: '', workspace: null, storage_type: 'unknown', ...config },
  };
}

function usageOf(value: unknown): unknown {
  const given = record(value);
  if (given === undefined) return noUsage;
  if ('inputTokens' in given) return value;
  const number = (name: string): number => (typeof given[name] === 'number' ? given[name] : 0);
  const inputTokens = number('prompt_tokens');
  const outputTokens = number('completion_tokens');
  return {
    ...noUsage,
    inputTokens,
    outputTokens,
    totalTokens: number('total_tokens') || inputTokens + outputTokens,
    cacheReadTokens: number('cache_read_tokens'),
    cacheWriteTokens: number('cache_write_tokens'),
  };
}

/** Records that hold a run and its events beside each other are made one. */
function flatRuns(runs: unknown): unknown {
  if (!Array.isArray(runs)) return runs;
  return runs.map((run: unknown) => {
    const { snapshot, ...rest } = record(run) ?? {};
    return record(snapshot) === undefined ? run : { ...(snapshot as Members), ...rest };
  });
}

function isOther(message: unknown): message is Members {
  const given = record(message);
  return given !== undefined && 'content' in given && !('parts' in given);
}

function about(sequence: number, turn: number, createdAt: number): Members {
  return { id: `message-${sequence}`, sequence, revision: 1, turnId: `turn-${turn}`, createdAt };
}

/** The messages that one of another form comes to, or what is wrong with it. */
function messagesOf({ role, content }: Members, names: Map<string, string>): readonly Members[] | string {
  const blocks: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) return 'it is a text or a list of blocks';
  const results: Members[] = [];
  const parts: Members[] = [];
  for (const block of blocks) {
    const given = record(block) ?? {};
    if (given['type'] === 'text' && typeof given['text'] === 'string') {
      parts.push({ type: 'text', text: given['text'] });
    } else if (given['type'] === 'tool_use' && role === 'assistant') {
      const { id, name, input = {} } = given;
      if (typeof id !== 'string' || typeof name !== 'string') return 'a tool_use has an id and a name';
      names.set(id, name);
      parts.push({ type: 'tool-call', callId: id, name, input });
    } else if (given['type'] === 'tool_result' && typeof given['tool_use_id'] === 'string') {
      results.push(resultOf(given, given['tool_use_id'], names));
    } else {
      return `there is no block "${String(given['type'])}" of ${String(role)} messages`;
    }
  }
  const said: Members[] = [];
  if (results.length > 0) said.push({ role: 'tool', parts: results });
  if (parts.length === 0) return said;
  if (role === 'user') return [...said, { role, mode: 'turn', parts }];
  if (role === 'assistant') return [...said, { role, status: 'complete', parts }];
  return `there is no role "${String(role)}" here`;
}

function resultOf(block: Members, callId: string, names: ReadonlyMap<string, string>): Members {
  const { content = null, is_error: isError } = block;
  const name = names.get(callId) ?? '';
  const output = typeof content === 'string' ? content : textOf(content);
  if (isError !== true) return { type: 'tool-result', callId, name, status: 'completed', output };
  const failure = {
    code: 'PERDURE_TOOL_FAILED',
    message: typeof output === 'string' ? output : JSON.stringify(output),
  };
  return { type: 'tool-result', callId, name, status: 'failed', failure };
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = content.map((block) => record(block)?.['text']);
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : content;
}

function record(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}
