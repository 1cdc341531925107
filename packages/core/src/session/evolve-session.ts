import type { EvolveHandlers } from './evolve.js';
import { MANY_TURNS, type Naming } from './session-state.js';

type SessionFacts = 'SessionTitled' | 'SessionArchived' | 'SessionRestored';

/** How a session gets its title, is put away and comes back. */
export const evolveSession: Pick<EvolveHandlers, SessionFacts> = {
  SessionTitled: ({ title, by }, state) => {
    // A host's title came while a model was asked.
    if (by === 'model' && state.naming.by === 'host') return state;
    return { ...state, naming: { ...state.naming, title, by } };
  },

  SessionArchived: (_, state, place) => ({ ...state, archivedAt: state.archivedAt ?? place.time }),

  SessionRestored: (_, state) => ({ ...state, archivedAt: undefined, erase: undefined }),
};

/** A model was asked for a title. */
export function askedForTitle(naming: Naming): Naming {
  return { ...naming, isAsked: true };
}

/** A turn was completed. */
export function completedTurn(naming: Naming): Naming {
  return naming.completed >= MANY_TURNS ? naming : { ...naming, completed: naming.completed + 1 };
}
