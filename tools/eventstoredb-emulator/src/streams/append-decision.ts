import { NO_STREAM, type ExpectedRevision } from './expected-revision.js';

/** What the decision about an append looks at. */
export interface StreamView {
  /** The last revision; -1 when nothing was ever written. A soft delete does not change it. */
  readonly head: number;
  readonly isSoftDeleted: boolean;
  readonly isTombstoned: boolean;
  readonly hasMetadata: boolean;
  /** The id of the event at a revision, hidden ones too. */
  idAt(revision: number): string | undefined;
  /** The revision at which this process has stored an id lately. */
  recentRevisionOf(id: string): number | undefined;
}

export type AppendDecision =
  /** `reopens`: the stream was soft-deleted, and what it had before stays hidden. */
  | { readonly kind: 'write'; readonly from: number; readonly reopens: boolean }
  /** The events are there already: they end at this revision. */
  | { readonly kind: 'repeat'; readonly last: number }
  | Refusal;

export type Refusal =
  { readonly kind: 'wrong-expected-revision'; readonly actual: number } | { readonly kind: 'deleted' };

/** Whether events with these ids are written, are there already, or are refused. */
export function decideAppend(view: StreamView, expected: ExpectedRevision, ids: readonly string[]): AppendDecision {
  if (view.isTombstoned) return { kind: 'deleted' };
  if (expected === 'any') return decideByRecentIds(view, ids);
  if (expected === 'stream-exists') {
    const exists = view.head >= 0 || view.hasMetadata;
    return view.isSoftDeleted || !exists ? refusal(view) : decideByRecentIds(view, ids);
  }
  const revision = expected === 'no-stream' ? NO_STREAM : expected;
  if (revision > view.head) return refusal(view);
  if (revision < view.head) return decideByStoredIds(view, revision, ids);
  return write(view);
}

/** Whether a stream may be deleted. It is decided like an append of something that nobody has; never a repeat. */
export function decideDeletion(
  view: StreamView,
  expected: ExpectedRevision,
): Exclude<AppendDecision, { kind: 'repeat' }> {
  const decision = decideAppend(view, expected, ['']);
  return decision.kind === 'repeat' ? refusal(view) : decision;
}

/** Weak: only ids that are remembered count, and the first of them decides whether the batch is a repeat. */
function decideByRecentIds(view: StreamView, ids: readonly string[]): AppendDecision {
  const revisions = ids.map((id) => view.recentRevisionOf(id));
  const last = revisions.at(-1);
  if (revisions[0] === undefined) return write(view);
  return last === undefined || revisions.includes(undefined) ? refusal(view) : { kind: 'repeat', last };
}

/** Strong: the ids must be those of the events that follow the expected revision. */
function decideByStoredIds(view: StreamView, expected: number, ids: readonly string[]): AppendDecision {
  const other = ids.findIndex((id, index) => view.idAt(expected + 1 + index) !== id);
  if (other === -1) return ids.length === 0 ? refusal(view) : { kind: 'repeat', last: expected + ids.length };
  // Only a deleted stream may begin again; a batch that is there in part never is a new beginning.
  return other === 0 && expected === NO_STREAM && view.isSoftDeleted ? write(view) : refusal(view);
}

function write({ head, isSoftDeleted }: StreamView): Extract<AppendDecision, { kind: 'write' }> {
  return { kind: 'write', from: head + 1, reopens: isSoftDeleted };
}

function refusal({ head }: StreamView): Refusal {
  return { kind: 'wrong-expected-revision', actual: head };
}
