import { sessionStream, type SessionKey } from '@perdure/events';
import { PerdureError, type EventStore } from '@perdure/plugin-api';
import { emptySession, hasEnded } from '../session/session-loader.js';
import { forkPoint } from '../session/fork-point.js';
import { Journal } from '../session/journal.js';
import { erasedError, isOrphan, refuseErased } from '../session/refuse-erased.js';
import type { SessionState } from '../session/session-state.js';
import { StorePatience } from '../session/store-patience.js';
import { eraseSession } from './erase-session.js';
import type { SessionConfig } from './session-options.js';
import type { HostServices } from './host-services.js';
import { journalContext } from './load-session.js';

/**
 * Opens the stream of a session that goes on from another one: one fact, whatever the length of that one. What the
 * options do not name is as it is there; the model as it was at the place. Throws PERDURE_SESSION_ERASED, and leaves
 * nothing, when the other one is erased meanwhile.
 */
export async function forkSession(
  origin: SessionKey,
  from: { readonly at: number | undefined; readonly state: SessionState; readonly head: number },
  { key, labels, model, workspace }: SessionConfig,
  services: HostServices,
): Promise<void> {
  const { store, facts } = services;
  const { state } = from;
  refuseErased(state, origin.id);
  const stream = sessionStream(origin);
  const { revision, hash } = await forkPoint(store, stream, facts, from.at).catch(async (error: unknown) => {
    throw (await hasEnded(store, stream)) ? erasedError(origin.id) : error;
  });
  const { agentId, parent, root, ...identity } = state.identity ?? { agentId: '', createdAt: 0 };
  const place = workspace ?? identity.workspace;
  // What is folded here is of no use to anyone: the first fact is all that is written.
  const patience = new StorePatience(services.config.storePatienceMs, services.logger, key.id);
  const journal = new Journal(key, store, facts, journalContext(services, key), patience, { ...emptySession, hash });
  const isFirst = await journal.commit((batch) => {
    if (batch.state.isErased && !isOrphan(batch.state)) throw erasedError(key.id);
    if (batch.state.identity !== undefined) return false;
    const fact = {
      from: { session: origin.id, revision },
      agentId,
      labels: { ...state.labels, ...labels },
      ...(place === undefined ? {} : { workspace: place }),
      ...(model === undefined ? {} : { model }),
      ...(parent === undefined ? {} : { parent }),
      ...(root === undefined ? {} : { root }),
    };
    batch.add('SessionForked', fact, {}, { kind: 'host' });
    return true;
  }, 'input');
  if (!isFirst) throw new PerdureError('PERDURE_SESSION_EXISTS', { session: key.id });
  // Whoever erases the other one looks for forks behind its request: one of the two sees the other.
  if (!(await isEndingBehind(store, stream, from.head))) return;
  await eraseSession(key, { cascade: true, reason: undefined }, services, async () => undefined);
  throw erasedError(origin.id);
}

/** Whether behind a revision the end of a session was requested, and not withdrawn. */
async function isEndingBehind(store: EventStore, stream: string, revision: number): Promise<boolean> {
  let isEnding = false;
  for (let from: number | undefined = revision + 1; from !== undefined;) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(stream, { from });
    for (const { type } of page.facts) {
      if (type === 'EraseRequested' || type === 'SessionErased') isEnding = true;
      else if (type === 'SessionRestored') isEnding = false;
    }
    from = page.next;
  }
  return isEnding;
}
