import { reasonOf, type Mutation } from '@perdure/plugin-api';
import { subscribeMutations } from '../live/mutations.js';
import type { SessionHome } from './session-home.js';

/** Tells a listener of the changes of a session. It stays in memory until the function that this returns is called. */
export function listenTo(home: SessionHome, listener: (mutation: Mutation) => void): () => void {
  const { id } = home.key;
  let end: (() => void) | undefined;
  let isEnded = false;
  const report = (error: unknown): void => {
    home.logger.log('warn', 'A listener of a session failed.', { session: id, reason: reasonOf(error) });
  };
  const held = home.hold();
  held.loaded.then((loaded) => {
    if (isEnded) return;
    loaded.follow();
    end = subscribeMutations(id, loaded.work.journal, loaded.work.feed, listener, report);
  }, report);
  return () => {
    isEnded = true;
    end?.();
    held.release();
  };
}
