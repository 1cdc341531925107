import { assertOwner, type Ownership } from '../session/ownership.js';
import type { SessionWork } from './session-work.js';

/**
 * Before every effect: nobody may have counted this node as dead since it is known to have the session. A lease that
 * ran out is renewed, if that was not done meanwhile for another session, and then the session is taken once more, in
 * the same epoch: somebody who counted this node as dead before the renewal, and has not taken the session yet, loses
 * that race and looks again. While the store is away that is waited for. Throws PERDURE_SESSION_FENCED when somebody
 * has taken it.
 */
export async function assertLeased({ lease, journal, key, env }: SessionWork, held: Ownership): Promise<void> {
  while (!lease.isValidSince(held.confirmedAt)) {
    await journal.patience.insist('owner', () => lease.revive());
    const confirmedAt = performance.now();
    await journal.commit((batch) => {
      assertOwner(batch, held, key.id);
      // Another effect of this session has done it meanwhile.
      if (lease.isValidSince(held.confirmedAt)) return;
      const { node, incarnation } = lease;
      const by = { kind: 'node' as const, id: env.nodeId };
      batch.add('OwnershipTaken', { node, incarnation, epoch: held.epoch, reason: 'lease-renewed' }, {}, by);
    }, 'owner');
    if (held.confirmedAt < confirmedAt) held.confirmedAt = confirmedAt;
  }
}
