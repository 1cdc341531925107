import { assertOwner, type Ownership } from '../session/ownership.js';
import type { SessionWork } from './session-work.js';

/**
 * Before every effect: nobody may have counted this node as dead. A lease that ran out is renewed, and then the stream
 * says whether the session is still this node's. Throws PERDURE_SESSION_FENCED when it is not.
 */
export async function assertLeased({ lease, journal, key }: SessionWork, held: Ownership): Promise<void> {
  if (lease.isValid()) return;
  await lease.revive();
  await journal.refresh();
  await journal.commit((batch) => assertOwner(batch, held, key.id), 'owner');
}
