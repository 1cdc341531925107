import { assertOwner, type Ownership } from '../session/ownership.js';
import type { SessionWork } from './session-work.js';

/**
 * Before every effect: nobody may have counted this node as dead since it is known to have the session. A lease that
 * ran out is renewed, if that was not done meanwhile for another session, and then the stream says whether the session
 * is still this node's. While the store is away that is waited for. Throws PERDURE_SESSION_FENCED when it is not.
 */
export async function assertLeased({ lease, journal, key }: SessionWork, held: Ownership): Promise<void> {
  while (!lease.isValidSince(held.confirmedAt)) {
    await journal.patience.insist('owner', () => lease.revive());
    const confirmedAt = performance.now();
    await journal.patience.insist('owner', () => journal.refresh());
    await journal.commit((batch) => assertOwner(batch, held, key.id), 'owner');
    held.confirmedAt = confirmedAt;
  }
}
