import type { PayloadOf } from '@perdure/events';
import { PerdureError, type ChildLimits } from '@perdure/plugin-api';
import type { FactBatch } from '../session/fact-batch.js';
import { draftFact, type FactScope } from '../session/fact-batch.js';
import { assertOwner, type Ownership } from '../session/ownership.js';
import type { SessionState } from '../session/session-state.js';
import type { SessionWork } from '../turn/session-work.js';
import { modeUnder } from './cap-children.js';

const NODE = { kind: 'node' } as const;

/** A child that is to be started; its share of further sessions is worked out when it is recorded. */
export type ChildDraft = Omit<PayloadOf<'ChildStarted'>, 'delegation'> & {
  readonly delegation: Omit<PayloadOf<'ChildStarted'>['delegation'], 'quota' | 'depth'>;
};

/**
 * Adds the starts of children that are not known, as many as the batch has room for. Whether all are there. Throws
 * PERDURE_CHILD_LIMIT.
 */
export function addStarts(
  batch: FactBatch,
  drafts: readonly ChildDraft[],
  limits: ChildLimits,
  scope: FactScope,
): boolean {
  const { children } = batch.state;
  const missing = drafts.filter(({ childId }) => !children.some((child) => child.childId === childId));
  if (missing.length === 0) return true;
  const depth = (batch.state.identity?.delegation?.depth ?? 0) + 1;
  const quota = shareOf(batch.state, missing.length, depth, limits);
  for (const draft of missing) {
    if (batch.isFull) return false;
    // What was asked for since the draft was made binds it as it does those that are at work.
    const profile = { ...draft.profile, approvals: modeUnder(batch.state, draft.profile.approvals ?? 'always-allow') };
    batch.add('ChildStarted', { ...draft, profile, delegation: { ...draft.delegation, depth, quota } }, scope, NODE);
  }
  return true;
}

/** How many sessions each of some further children may have below it: together half of what is left. */
function shareOf(state: SessionState, count: number, depth: number, limits: ChildLimits): number {
  const refuse = (reason: string): PerdureError => new PerdureError('PERDURE_CHILD_LIMIT', { reason });
  if (depth > limits.maxDepth) throw refuse(`sessions are at most ${limits.maxDepth} levels below their root`);
  const open = state.children.filter(({ ended }) => ended === undefined).length;
  if (open + count > limits.maxFanOut) {
    throw refuse(`a session has at most ${limits.maxFanOut} at work, and ${open} are`);
  }
  const left = (state.identity?.delegation?.quota ?? limits.maxTotal) - state.descendants - count;
  if (left < 0) throw refuse(`this session may start ${Math.max(0, left + count)} more, and ${count} are asked for`);
  return Math.floor(left / (2 * count));
}

/** Records how a child ended, unless that is recorded. Throws PERDURE_SESSION_FENCED. */
export async function recordEnd(
  end: PayloadOf<'ChildEnded'>,
  scope: FactScope,
  work: SessionWork,
  held: Ownership,
): Promise<void> {
  const fact = draftFact('ChildEnded', end, scope, NODE, held.epoch, work.batchContext);
  await work.journal.commit((batch) => {
    assertOwner(batch, held, work.key.id);
    const isOpen = batch.state.children.some(({ childId, ended }) => childId === end.childId && ended === undefined);
    if (isOpen) batch.keep(fact);
  }, 'owner');
}
