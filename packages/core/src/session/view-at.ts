import { sessionStream, type SessionKey } from '@perdure/events';
import type { EventStore, SessionView } from '@perdure/plugin-api';
import { pendingInteractions } from './interactions.js';
import type { Journal } from './journal.js';
import { loadSession, type FoldedSession, type LoadOptions } from './session-loader.js';
import { checkOptions, invalidInput } from './session-input.js';
import { messagePage, sessionInfo } from './session-views.js';

/**
 * A session as it was at a revision: folded from its stream alone, whatever came behind. Throws PERDURE_INPUT_INVALID
 * for a revision that the stream does not have.
 */
export async function viewAt(
  revision: number,
  { key, head, registry }: Pick<Journal, 'key' | 'head' | 'registry'>,
  store: EventStore,
  openBefore?: LoadOptions['openBefore'],
): Promise<SessionView> {
  if (!Number.isSafeInteger(revision) || revision < 0 || revision > head) {
    throw invalidInput('revision', `it is a revision of the session, from 0 to ${head}`);
  }
  const until = revision + 1;
  const start = await openBefore?.(key, until);
  const folded = await loadSession(store, sessionStream(key), registry, {
    until,
    ...(start === undefined ? {} : { start }),
    ...(openBefore === undefined ? {} : { openBefore }),
  });
  return viewOf(key, folded);
}

function viewOf(key: SessionKey, { state, revision, hash, time }: FoldedSession): SessionView {
  return {
    revision,
    hash,
    time,
    info: () => sessionInfo({ key, state, head: revision, hash, time }),
    messages: (options) => messagePage({ state, head: revision }, checkOptions(options)),
    interactions: () => pendingInteractions(state),
  };
}
