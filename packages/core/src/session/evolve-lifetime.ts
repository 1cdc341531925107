import type { PayloadOf } from '@perdure/events';
import type { Message } from '@perdure/plugin-api';
import { AppendList } from './append-list.js';
import type { EvolveHandlers } from './evolve.js';
import { initialState, type SessionIdentity, type SessionState } from './session-state.js';

type LifetimeFacts = 'SessionCreated' | 'SessionForked' | 'SessionRelabeled' | 'EraseRequested' | 'SessionErased';

/** How a session begins, is named, and ends. */
export const evolveLifetime: Pick<EvolveHandlers, LifetimeFacts> = {
  SessionCreated: (fact, state, place) => ({
    ...state,
    identity: {
      ...identityOf(fact, place.time),
      ...(fact.profile === undefined ? {} : { profile: fact.profile }),
      ...(fact.delegation === undefined ? {} : { delegation: fact.delegation }),
    },
    labels: fact.labels,
    naming: fact.title === undefined ? state.naming : { ...state.naming, title: fact.title, by: 'host' },
    model: fact.model,
  }),

  SessionForked: (fact, state, place) => ({
    // What it goes on from was erased while it was made: so is it.
    ...(state.isErased ? { ...initialState, isErased: true } : withoutWaiting(state)),
    identity: {
      ...identityOf(fact, place.time),
      // It may do no more than the session that it goes on from.
      ...(state.identity?.profile === undefined ? {} : { profile: state.identity.profile }),
      forkedFrom: fact.from,
    },
    labels: fact.labels,
    model: fact.model ?? state.model,
  }),

  SessionRelabeled: (fact, state) => ({ ...state, labels: fact.labels }),

  EraseRequested: ({ cascade, reason }, state, { revision, time }) => {
    if (state.isErased) return state;
    const stop = { reason: 'erased' };
    const open = state.open.map((turn) => (turn.stop === undefined ? { ...turn, stop } : turn));
    const children = state.children.map((child) => ({ ...child, isStopped: true as const }));
    return {
      ...state,
      open,
      children,
      archivedAt: undefined,
      erase: { cascade, ...(reason === undefined ? {} : { reason }), revision, at: time },
    };
  },

  // Whatever came before it leads to the same state, for what came before it is truncated.
  SessionErased: (fact) => ({ ...initialState, identity: { agentId: fact.agentId, createdAt: 0 }, isErased: true }),
};

function identityOf(
  fact: PayloadOf<'SessionCreated'> | PayloadOf<'SessionForked'>,
  createdAt: number,
): SessionIdentity {
  const { agentId, workspace, parent, root } = fact;
  return {
    agentId,
    ...(workspace === undefined ? {} : { workspace }),
    ...(parent === undefined ? {} : { parent }),
    ...(root === undefined ? {} : { root }),
    ...('timezone' in fact && fact.timezone !== undefined ? { timezone: fact.timezone } : {}),
    createdAt,
    ...('imported' in fact && fact.imported !== undefined
      ? { imported: { digest: fact.imported.digest, messages: fact.imported.messages } }
      : {}),
  };
}

/**
 * What a fork has of the session that it goes on from: the conversation, how it is shown, and its files. Whatever waits
 * there is that one's to finish: turns, prompts, calls, changes, ownership; and what it spent is on its own bill.
 */
function withoutWaiting(state: SessionState): SessionState {
  const { approvals, approvalCap, summary, compactions, system, artifacts, newer } = state;
  const waiting = new Set(
    [...state.notices, ...state.open.flatMap((turn) => turn.waiting)].map(({ message }) => message),
  );
  const kept = { ...initialState, approvals, approvalCap, summary, compactions, system, artifacts, newer };
  if (waiting.size === 0) return { ...kept, messages: state.messages, context: state.context };
  const places = new Map<number, number>();
  let messages = AppendList.empty<Message>();
  for (const [place, message] of [...state.messages].entries()) {
    if (waiting.has(place)) continue;
    places.set(place, messages.length);
    messages = messages.push({ ...message, sequence: messages.length + 1 });
  }
  const context = AppendList.from([...state.context].flatMap((place) => places.get(place) ?? []));
  return { ...kept, messages, context };
}
