import type { z } from 'zod';
import { fromOtherForm } from './other-forms.js';
import { SNAPSHOT_VERSION, sessionSnapshotV1, type SessionSnapshotV1 } from './snapshot.js';

/** What is wrong with a value that is no snapshot, and where. */
export interface SnapshotFault {
  readonly field: string;
  readonly reason: string;
}

export type ReadSnapshot =
  { readonly ok: true; readonly snapshot: SessionSnapshotV1 } | { readonly ok: false; readonly fault: SnapshotFault };

/**
 * Reads a snapshot from a JSON value, and checks it whole. The forms that came before the aggregate are read too.
 * Nothing is left out, and nothing is mended.
 */
export function readSnapshot(value: unknown): ReadSnapshot {
  if (!isRecord(value)) return faulty('snapshot', 'it is an object');
  const deep = tooDeep(value);
  if (deep !== undefined) return faulty(deep, `it is nested more than ${DEEPEST} levels`);
  const brought = fromOtherForm(value);
  return 'fault' in brought ? { ok: false, fault: brought.fault } : checkSnapshot(brought.value);
}

/** Checks a value that must be a snapshot of this version: its shape, and what its parts say of each other. */
export function checkSnapshot(value: unknown): ReadSnapshot {
  if (!isRecord(value)) return faulty('snapshot', 'it is an object');
  const { schema_version: version } = value;
  if (version !== SNAPSHOT_VERSION) {
    const given = typeof version === 'number' ? String(version) : 'not a version';
    return faulty('schema_version', `it is ${given}, and this build reads ${SNAPSHOT_VERSION}`);
  }
  const parsed = sessionSnapshotV1.safeParse(value);
  if (!parsed.success) return { ok: false, fault: faultOf(parsed.error) };
  const fault = disagreement(parsed.data);
  return fault === undefined ? { ok: true, snapshot: parsed.data } : { ok: false, fault };
}

/** Levels of a snapshot, at the most: what reads and writes JSON does so by calling itself. */
const DEEPEST = 1_000;

/** The beginning of the path to what is nested too deeply. Reads it without calling itself, once. */
function tooDeep(value: Readonly<Record<string, unknown>>): string | undefined {
  const left: { readonly value: object; readonly depth: number; readonly path: string }[] = [
    { value, depth: 1, path: '' },
  ];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { depth, path } = one;
    for (const [name, member] of Object.entries(one.value)) {
      if (typeof member !== 'object' || member === null) continue;
      const at = depth > NAMED ? path : path === '' ? name : `${path}.${name}`;
      if (depth >= DEEPEST) return at;
      left.push({ value: member as object, depth: depth + 1, path: at });
    }
  }
  return undefined;
}

/** Levels of the path to a member that is named in a fault. */
const NAMED = 6;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faulty(field: string, reason: string): ReadSnapshot {
  return { ok: false, fault: { field, reason } };
}

function faultOf({ issues: [issue] }: z.ZodError): SnapshotFault {
  const path = [...(issue?.path ?? []), ...(issue?.code === 'unrecognized_keys' ? [issue.keys[0] ?? ''] : [])];
  return { field: path.map(String).join('.') || 'snapshot', reason: issue?.message ?? 'not valid' };
}

/** The first rule between parts that does not hold. */
function disagreement(snapshot: SessionSnapshotV1): SnapshotFault | undefined {
  return runFault(snapshot) ?? messageFault(snapshot) ?? traceFault(snapshot) ?? taskFault(snapshot);
}

function runFault({ session, run_records: runs }: SessionSnapshotV1): SnapshotFault | undefined {
  const seen = new Set<string>();
  for (const [index, run] of runs.entries()) {
    const at = `run_records.${index}`;
    if (seen.has(run.id)) return { field: `${at}.id`, reason: `there are two runs "${run.id}"` };
    seen.add(run.id);
    if (run.session_id !== session.id) {
      return { field: `${at}.session_id`, reason: `the snapshot is of the session "${session.id}"` };
    }
    const { events = [] } = run;
    const rising = unordered(events.map(({ sequence }) => sequence));
    if (rising !== undefined) return { field: `${at}.events.${rising}.sequence`, reason: NOT_RISING };
    const last = events.at(-1)?.sequence;
    if (last !== undefined && run.event_count < last + 1) {
      return { field: `${at}.event_count`, reason: `it is at least ${last + 1}` };
    }
  }
  return undefined;
}

const NOT_RISING = 'it is not above the one before';

function messageFault({ session }: SessionSnapshotV1): SnapshotFault | undefined {
  const { messages, context_hidden: hidden = [] } = session;
  const rising = unordered(messages.map(({ sequence }) => sequence));
  if (rising !== undefined) return { field: `session.messages.${rising}.sequence`, reason: NOT_RISING };
  const ids = new Set<string>();
  const open = new Set<string>();
  const known = new Set<string>();
  for (const [index, { id, role, parts }] of messages.entries()) {
    const at = `session.messages.${index}`;
    if (ids.has(id)) return { field: `${at}.id`, reason: `there are two messages "${id}"` };
    ids.add(id);
    for (const [place, part] of parts.entries()) {
      const field = `${at}.parts.${place}.callId`;
      if (role === 'assistant' && part.type === 'tool-call') {
        if (known.has(part.callId)) return { field, reason: `there are two calls "${part.callId}"` };
        known.add(part.callId);
        open.add(part.callId);
      } else if (role === 'tool' && part.type === 'tool-result' && !open.delete(part.callId)) {
        return { field, reason: 'no call before it waits for this result' };
      }
    }
  }
  const sequences = new Set(messages.map(({ sequence }) => sequence));
  const stray = hidden.findIndex((sequence) => !sequences.has(sequence));
  return stray < 0
    ? undefined
    : { field: `session.context_hidden.${stray}`, reason: 'there is no message of this sequence' };
}

function traceFault({ trace_events: trace }: SessionSnapshotV1): SnapshotFault | undefined {
  const rising = unordered(trace.map(({ sequence }) => sequence));
  return rising === undefined ? undefined : { field: `trace_events.${rising}.sequence`, reason: NOT_RISING };
}

function taskFault({ session, subagent_tasks: tasks }: SessionSnapshotV1): SnapshotFault | undefined {
  const index = tasks.findIndex(({ parent_session_id: parent }) => parent !== '' && parent !== session.id);
  if (index < 0) return undefined;
  const field = `subagent_tasks.${index}.parent_session_id`;
  return { field, reason: `it is empty or "${session.id}"` };
}

/** The first place that does not rise above the one before. */
function unordered(sequences: readonly number[]): number | undefined {
  const at = sequences.findIndex((sequence, index) => index > 0 && sequence <= (sequences[index - 1] as number));
  return at < 0 ? undefined : at;
}
