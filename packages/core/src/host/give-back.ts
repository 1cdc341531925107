import type { SessionKey } from '@perdure/events';
import { releaseOwnership, type Ownership } from '../session/ownership.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';

/** What a failed session still has in the stream is given back from a journal that was read anew. */
export async function giveBack(services: HostServices, key: SessionKey, lost: Ownership | undefined): Promise<void> {
  if (lost === undefined) return;
  const { journal } = await openJournal(services, key);
  await releaseOwnership(journal, lost, services.env, 'passivated', true);
}
