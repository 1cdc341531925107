import { sessionStream, type FactRegistry, type PayloadOf, type SessionKey } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import type { SessionState } from '../session/session-state.js';
import { sessionConfiguration } from './session-options.js';

/** Where a session is in its tree. */
export interface TreePlace {
  readonly parent: string;
  readonly root: string;
}

/**
 * The place of a session that works for another one, by the first fact of that one. Throws
 * PERDURE_SESSION_CONFIGURATION when there is no such session of the same tenant.
 */
export async function placeUnder(
  parent: string,
  { tenant }: SessionKey,
  { store, facts }: { readonly store: EventStore; readonly facts: FactRegistry },
): Promise<TreePlace> {
  const [first] = (await store.read(sessionStream({ tenant, id: parent }), { limit: 1 })).facts;
  const read = first === undefined ? undefined : facts.read(first);
  const isBeginning = read?.type === 'SessionCreated' || read?.type === 'SessionForked';
  if (read?.kind !== 'known' || !isBeginning) {
    throw sessionConfiguration('parent', `there is no session "${parent}"`);
  }
  return { parent, root: (read.payload as PayloadOf<'SessionCreated' | 'SessionForked'>).root ?? parent };
}

/**
 * Throws PERDURE_SESSION_CONFIGURATION when a session that exists is said to have another parent than it has. Of one
 * that is erased nobody knows any more.
 */
export function assertParent(
  parent: string | undefined,
  { identity, isErased }: Pick<SessionState, 'identity' | 'isErased'>,
): void {
  if (parent === undefined || identity === undefined || isErased || identity.parent === parent) return;
  throw sessionConfiguration('parent', `the session has ${identity.parent === undefined ? 'none' : 'another one'}`);
}
