import type { SessionIdentity } from '../session/session-state.js';
import { sessionConfiguration } from './session-options.js';

/** Throws PERDURE_SESSION_CONFIGURATION when a session that exists is another agent's. */
export function assertAgent(identity: SessionIdentity | undefined, agentId: string): void {
  if (identity === undefined || identity.agentId === agentId) return;
  throw sessionConfiguration('agentId', `the session belongs to the agent "${identity.agentId}"`);
}
