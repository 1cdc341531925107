import { PerdureError, type HostEnv } from '@perdure/plugin-api';
import { handOver } from '../turn/record-intent.js';
import type { FactBatch } from './fact-batch.js';
import type { Journal } from './journal.js';
import type { NodeLease } from './node-lease.js';
import { refuseArchived } from './refuse-archived.js';
import { activeRun, currentTurn, isImporting, type SessionState } from './session-state.js';
import { isRunnable } from './waiting.js';

/** The right of this process to run a session: the epoch that it took. */
export interface Ownership {
  readonly epoch: number;
  /** When the stream was last known to give this process the session, on the monotonic clock. */
  confirmedAt: number;
}

/**
 * Takes a session for this node, or finds that this node has it. Throws PERDURE_SESSION_OWNED while another node that
 * lives has it, unless `takeOver`, PERDURE_FACT_NEWER when this build must not run it, PERDURE_SESSION_ARCHIVED, and
 * PERDURE_NODE_DRAINING when this node takes no more sessions.
 */
export async function takeOwnership(
  journal: Journal,
  lease: NodeLease,
  env: HostEnv,
  options: {
    readonly takeOver: boolean;
    readonly held: Ownership | undefined;
    /** Opens the stream of a session that has no facts yet: its first fact says what it is, whatever is asked first. */
    readonly create: (batch: FactBatch) => void;
  },
): Promise<Ownership> {
  const insist = <Result>(work: () => Promise<Result>) => journal.patience.insist('owner', work);
  let lost = false;
  for (;;) {
    refuseNewer(journal.state, journal.key.id);
    const { owner, epoch, handedOver } = journal.state.ownership;
    if (options.held?.epoch === epoch && owner?.incarnation === lease.incarnation) return options.held;
    refuseArchived(journal.state, journal.key.id);
    const free = owner === undefined || handedOver;
    // What this process has and does not hold was lost in it by a failure.
    const isLost = owner?.incarnation === lease.incarnation && owner.node === lease.node;
    // What comes behind this may be the owner's, who lives after all.
    const looked = journal.head;
    const alive = !free && !isLost && (await insist(() => lease.isAlive(owner.node, owner.incarnation)));
    const isDead = !free && !isLost && !alive;
    // A take-over that lost its race has lost: the winner lives.
    if (alive && (lost || !options.takeOver)) {
      throw new PerdureError('PERDURE_SESSION_OWNED', { session: journal.key.id, node: owner.node });
    }
    if (lease.isDraining) throw new PerdureError('PERDURE_NODE_DRAINING', { node: lease.node });
    await insist(() => lease.hold());
    const confirmedAt = performance.now();
    const reason = epoch === 0 ? 'first' : free ? 'released' : alive ? 'take-over' : 'owner-dead';
    const taken = await journal.commit((batch) => {
      // Another node was quicker: look who it is.
      lost = batch.state.ownership.epoch !== epoch;
      if (lost || (isDead && batch.head !== looked)) return undefined;
      refuseNewer(batch.state, journal.key.id);
      refuseArchived(batch.state, journal.key.id);
      options.create(batch);
      const fact = { node: lease.node, incarnation: lease.incarnation, epoch: epoch + 1, reason } as const;
      batch.add('OwnershipTaken', fact, {}, { kind: 'node', id: env.nodeId });
      return { epoch: epoch + 1, confirmedAt };
    }, 'take-over');
    if (taken !== undefined) return taken;
  }
}

/** Why a session is given back. */
export type ReleaseReason = 'closed' | 'passivated';

/**
 * Lets a session go that is idle or only waits for people. A run that waits ends with it: its turn goes on in another
 * one when somebody has answered. Does nothing when this node does not have it or it has something left to do; with
 * `isLeaving`, work that is left is anybody's, unless a run was handed over, which says so already.
 */
export function releaseOwnership(
  journal: Journal,
  held: Ownership,
  env: HostEnv,
  reason: ReleaseReason,
  isLeaving = false,
): Promise<boolean> {
  return journal.commit((batch) => {
    const { state } = batch;
    if (state.ownership.epoch !== held.epoch || state.ownership.owner === undefined) return false;
    if (isRunnable(state, env.clock.now()) && (!isLeaving || state.ownership.handedOver)) return false;
    handOver(batch);
    batch.add('OwnershipReleased', { epoch: held.epoch, reason }, {}, { kind: 'node', id: env.nodeId });
    return true;
  }, 'owner');
}

/** Throws unless the batch may carry facts of this owner. */
export function assertOwner(batch: FactBatch, held: Pick<Ownership, 'epoch'>, session: string): void {
  const { state } = batch;
  if (state.ownership.epoch !== held.epoch || state.ownership.owner === undefined) {
    throw new PerdureError('PERDURE_SESSION_FENCED', { session, epoch: state.ownership.epoch });
  }
  refuseNewer(state, session);
}

/** Throws when the session must not be run: it holds what this build does not know, or it is gone. */
export function refuseNewer(state: SessionState, session: string): void {
  if (state.isErased) throw new PerdureError('PERDURE_SESSION_ERASED', { session });
  if (isImporting(state)) throw new PerdureError('PERDURE_SESSION_IMPORTING', { session });
  if (state.newer === undefined) return;
  throw new PerdureError('PERDURE_FACT_NEWER', { session, type: state.newer.type, revision: state.newer.revision });
}

/** The run that goes on in a session at the moment, if any. */
export function runOf(state: SessionState): string | undefined {
  const turn = currentTurn(state);
  return turn === undefined ? undefined : activeRun(turn)?.runId;
}
