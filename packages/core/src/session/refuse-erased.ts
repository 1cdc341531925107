import { PerdureError } from '@perdure/plugin-api';
import type { SessionState } from './session-state.js';

/** Throws PERDURE_SESSION_ERASED when a session is gone, or on its way to be. */
export function refuseErased(state: SessionState, session: string): void {
  if (state.isErased || state.erase !== undefined) throw new PerdureError('PERDURE_SESSION_ERASED', { session });
}
