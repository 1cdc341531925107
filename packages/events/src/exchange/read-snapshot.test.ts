import { describe, expect, test } from 'vitest';
import { noUsage } from '../parts.js';
import { checkSnapshot, readSnapshot } from './read-snapshot.js';

const user = (sequence: number) => ({
  id: `m${sequence}`,
  sequence,
  revision: 1,
  turnId: 't',
  createdAt: 1,
  role: 'user',
  mode: 'turn',
  parts: [{ type: 'text', text: 'Hello.' }],
});
const call = (sequence: number, callId: string) => ({
  ...{ id: `m${sequence}`, sequence, revision: 1, turnId: 't', createdAt: 1, role: 'assistant', status: 'complete' },
  parts: [{ type: 'tool-call', callId, name: 'read', input: {} }],
});
const result = (sequence: number, callId: string) => ({
  ...{ id: `m${sequence}`, sequence, revision: 1, turnId: 't', createdAt: 1, role: 'tool' },
  parts: [{ type: 'tool-result', callId, name: 'read', status: 'completed', output: 'x' }],
});
const session = {
  id: 's',
  config: { name: 'a', workspace: null, storage_type: 'event-stream' },
  state: 'Completed',
  messages: [user(1), call(2, 'c'), result(3, 'c')],
  total_usage: noUsage,
  model_name: null,
  tool_names: [],
  created_at: 1,
  updated_at: 2,
};
const run = {
  id: 'r1',
  session_id: 's',
  status: 'completed',
  prompt: 'Hello.',
  created_at_ms: 1,
  updated_at_ms: 2,
  event_count: 3,
};
const event = (sequence: number) => ({ sequence, timestamp_ms: 1, event: {} });
const trace = (sequence: number) => ({ sequence, timestamp_ms: 1, kind: 'RunStarted' });
const snapshot = {
  schema_version: 1,
  session,
  artifacts: [],
  retained_artifact_uris: [],
  trace_events: [trace(0), trace(4)],
  run_records: [run, { ...run, id: 'r2', events: [event(0), event(2)] }],
  verification_reports: [],
  subagent_tasks: [{ task_id: 'x', parent_session_id: 's' }],
};

test('a snapshot is read, with members that this build does not know', () => {
  const value = { ...snapshot, session_review: [1], session: { ...session, cost_records: [], later: { x: 1 } } };
  expect(readSnapshot(value)).toEqual({ ok: true, snapshot: value });
});

describe('what does not agree is named by its field', () => {
  const withSession = (change: object) => ({ ...snapshot, session: { ...session, ...change } });
  const withRuns = (...runs: object[]) => ({ ...snapshot, run_records: runs });
  test.each<[rule: string, field: string, value: unknown]>([
    ['it is an object', 'snapshot', []],
    ['the version is known', 'schema_version', { ...snapshot, schema_version: 2 }],
    ['there is a version', 'schema_version', { ...snapshot, schema_version: undefined }],
    ['a session has an id', 'session.id', withSession({ id: '' })],
    ['runs have ids of their own', 'run_records.1.id', withRuns(run, run)],
    ['runs belong to the session', 'run_records.0.session_id', withRuns({ ...run, session_id: 'other' })],
    ['events rise', 'run_records.0.events.1.sequence', withRuns({ ...run, events: [event(1), event(1)] })],
    ['event_count is above the last event', 'run_records.0.event_count', withRuns({ ...run, events: [event(3)] })],
    ['messages rise', 'session.messages.1.sequence', withSession({ messages: [user(2), user(1)] })],
    [
      'messages have ids of their own',
      'session.messages.1.id',
      withSession({ messages: [user(1), { ...user(1), sequence: 2 }] }),
    ],
    ['results have a call', 'session.messages.0.parts.0.callId', withSession({ messages: [result(1, 'c')] })],
    [
      'calls have ids of their own',
      'session.messages.1.parts.0.callId',
      withSession({ messages: [call(1, 'c'), call(2, 'c')] }),
    ],
    [
      'parts have no other members',
      'session.messages.0.parts.0.x',
      withSession({ messages: [{ ...user(1), parts: [{ type: 'text', text: '', x: 1 }] }] }),
    ],
    ['hidden messages exist', 'session.context_hidden.0', withSession({ context_hidden: [9] })],
    ['traces rise', 'trace_events.1.sequence', { ...snapshot, trace_events: [trace(1), trace(0)] }],
    [
      'tasks are of the session',
      'subagent_tasks.0.parent_session_id',
      { ...snapshot, subagent_tasks: [{ task_id: 'x', parent_session_id: 'y' }] },
    ],
  ])('%s', (_, field, value) => {
    expect(checkSnapshot(value)).toMatchObject({ ok: false, fault: { field } });
  });

  test('a task without a parent is of any session', () => {
    const value = { ...snapshot, subagent_tasks: [{ task_id: 'x', parent_session_id: '' }] };
    expect(checkSnapshot(value)).toMatchObject({ ok: true });
  });
});

describe('forms before the aggregate', () => {
  const theirs = {
    id: 'old',
    messages: [
      { role: 'user', content: 'Read it.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'A.' }] }] },
      { role: 'user', content: [{ type: 'text', text: 'Thanks.' }] },
    ],
    total_usage: { prompt_tokens: 2, completion_tokens: 3 },
  };

  test('are read as aggregates, and are none themselves', () => {
    const read = readSnapshot(theirs);
    expect(read).toMatchObject({ ok: true });
    const { messages, total_usage: usage } = (read as unknown as { snapshot: typeof snapshot }).snapshot.session;
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages[2]).toMatchObject({ parts: [{ name: 'read', output: 'A.', callId: 't' }] });
    expect(usage).toMatchObject({ inputTokens: 2, totalTokens: 5 });
    expect(checkSnapshot(theirs)).toMatchObject({ fault: { field: 'schema_version' } });
  });

  test.each([
    ['session.messages.0.content', { role: 'user', content: 7 }],
    ['session.messages.0.content', { role: 'robot', content: 'x' }],
    ['session.messages.0.content', { role: 'user', content: [{ type: 'image' }] }],
    ['session.messages.0.content', { role: 'assistant', content: [{ type: 'tool_use' }] }],
  ])('that cannot be read name %s', (field, message) => {
    expect(readSnapshot({ id: 'old', messages: [message] })).toMatchObject({ ok: false, fault: { field } });
  });
});
