import { sessionStream, type SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { emptySession } from '../session/session-loader.js';
import { forkPoint } from '../session/fork-point.js';
import { Journal } from '../session/journal.js';
import { refuseErased } from '../session/refuse-erased.js';
import type { SessionState } from '../session/session-state.js';
import type { SessionConfig } from './session-options.js';
import type { HostServices } from './host-services.js';
import { journalContext } from './load-session.js';

/**
 * Opens the stream of a session that goes on from another one: one fact, whatever the length of that one. What the
 * options do not name is as it is there; the model as it was at the place.
 */
export async function forkSession(
  origin: SessionKey,
  from: { readonly at: number | undefined; readonly state: SessionState },
  { key, labels, model, workspace }: SessionConfig,
  services: HostServices,
): Promise<void> {
  const { store, facts } = services;
  const { state } = from;
  refuseErased(state, origin.id);
  const { revision, hash } = await forkPoint(store, sessionStream(origin), facts, from.at);
  const { agentId, parent, root, ...identity } = state.identity ?? { agentId: '', createdAt: 0 };
  const place = workspace ?? identity.workspace;
  // What is folded here is of no use to anyone: the first fact is all that is written.
  const journal = new Journal(key, store, facts, journalContext(services, key), { ...emptySession, hash });
  const isFirst = await journal.commit((batch) => {
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
}
