import type { SessionKey } from '@perdure/events';
import { isPerdureError, reasonOf } from '@perdure/plugin-api';
import { backOff } from '../keeper/back-off.js';
import { releaseOwnership, type Ownership } from '../session/ownership.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';

/** What a failed session still has in the stream is given back from a journal that was read anew. */
export async function giveBack(services: HostServices, key: SessionKey, lost: Ownership | undefined): Promise<void> {
  if (lost === undefined) return;
  const { journal } = await openJournal(services, key);
  await releaseOwnership(journal, lost, services.env, 'passivated', true);
}

/**
 * The same, and when the store is away as soon as it is there again, unless the session is used here by then. A session
 * that this process does not know to have is left to whoever looks after sessions.
 */
export async function giveBackWhenThere(
  services: HostServices,
  key: SessionKey,
  lost: Ownership | undefined,
  isInUse: () => boolean,
  tries = 0,
): Promise<void> {
  if (lost === undefined) return services.failed.add(key);
  try {
    await giveBack(services, key, lost);
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE')) throw error;
    setTimeout(() => {
      if (isInUse()) return;
      giveBackWhenThere(services, key, lost, isInUse, tries + 1).catch((failure: unknown) => {
        const reason = reasonOf(failure);
        services.logger.log('warn', 'A session could not be given back.', { session: key.id, reason });
      });
    }, backOff(tries)).unref();
  }
}
