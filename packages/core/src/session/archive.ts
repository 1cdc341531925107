import { PerdureError } from '@perdure/plugin-api';
import type { FactBatch } from './fact-batch.js';
import { refuseNewer } from './ownership.js';
import { refuseArchived } from './refuse-archived.js';
import { refuseErased } from './refuse-erased.js';
import { currentTurn } from './session-state.js';

const HOST = { kind: 'host' } as const;

/**
 * Puts a session away, from any node. Throws PERDURE_SESSION_BUSY while something of it is under way or waits, and
 * PERDURE_SESSION_ARCHIVED when it is away already.
 */
export function archiveSession(batch: FactBatch, session: string, reason: string | undefined): void {
  const { state } = batch;
  if (state.identity === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session });
  refuseNewer(state, session);
  refuseArchived(state, session);
  refuseErased(state, session);
  const busy = currentTurn(state)?.turnId ?? state.hostCalls[0]?.callId ?? state.changes[0]?.changeId;
  if (busy !== undefined) throw new PerdureError('PERDURE_SESSION_BUSY', { session, turn: busy });
  batch.add('SessionArchived', { reason: reason ?? '' }, {}, HOST);
}

/** Brings an archived session back, from any node. Throws PERDURE_SESSION_NOT_ARCHIVED. */
export function restoreSession(batch: FactBatch, session: string): void {
  const { state } = batch;
  if (state.identity === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session });
  refuseNewer(state, session);
  const { archivedAt } = state;
  if (archivedAt === undefined) throw new PerdureError('PERDURE_SESSION_NOT_ARCHIVED', { session });
  batch.add('SessionRestored', { archivedAt }, {}, HOST);
}
