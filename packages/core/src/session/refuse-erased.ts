import { PerdureError } from '@perdure/plugin-api';
import type { SessionState } from './session-state.js';

/** Throws PERDURE_SESSION_ERASED when nothing of a session is left to be seen. */
export function refuseGone(state: SessionState, session: string): void {
  if (state.isErased) throw erasedError(session);
}

/**
 * Whether a session went on from one that is gone: it was made while that one was erased, and nobody was given it. What
 * it went on from is lost, and its own stream has not come to its end.
 */
export function isOrphan({ isErased, identity }: SessionState): boolean {
  return isErased && identity?.forkedFrom !== undefined;
}

/** Throws PERDURE_SESSION_ERASED when a session is gone, or on its way to be. */
export function refuseErased(state: SessionState, session: string): void {
  if (state.isErased || state.erase !== undefined) throw erasedError(session);
}

/** What becomes of whoever uses a session that was let go. */
export function closedError(session: string, isErased: boolean): PerdureError {
  return isErased ? erasedError(session) : new PerdureError('PERDURE_SESSION_CLOSED', { session });
}

export function erasedError(session: string): PerdureError {
  return new PerdureError('PERDURE_SESSION_ERASED', { session });
}
