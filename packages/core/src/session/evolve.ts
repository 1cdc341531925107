import { isCoreType, type CoreType, type FactHandlers, type PayloadOf, type ReadFact } from '@perdure/events';
import { evolveCall } from './evolve-call.js';
import { evolveChild } from './evolve-child.js';
import { evolveInput } from './evolve-input.js';
import { evolveInteraction } from './evolve-interaction.js';
import { evolveSession } from './evolve-session.js';
import { evolveLifetime } from './evolve-lifetime.js';
import { evolveStep } from './evolve-step.js';
import { evolveTurn } from './evolve-turn.js';
import type { SessionState } from './session-state.js';

/** What a handler may know of a fact beside its payload. */
export interface FactPlace {
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly time: number;
}

export type EvolveHandlers = FactHandlers<[state: SessionState, place: FactPlace], SessionState>;

const handlers: EvolveHandlers = {
  ...evolveSession,
  ...evolveLifetime,
  ...evolveInput,
  ...evolveTurn,
  ...evolveStep,
  ...evolveInteraction,
  ...evolveCall,
  ...evolveChild,
};

/** The state after a fact that this build knows. Pure. */
export function evolve<Type extends CoreType>(
  state: SessionState,
  type: Type,
  payload: PayloadOf<Type>,
  place: FactPlace,
): SessionState {
  const handle = handlers[type] as (payload: PayloadOf<Type>, state: SessionState, place: FactPlace) => SessionState;
  return handle(payload, state, place);
}

/**
 * The state after any stored fact. A plugin's fact leaves no trace, whether or not the plugin is there: the same stream
 * folds to the same state with it and without it. A fact that must not be run past marks the session.
 */
export function evolveRead(state: SessionState, fact: ReadFact, place: FactPlace): SessionState {
  switch (fact.kind) {
    case 'known':
      return isCoreType(fact.type) ? evolve(state, fact.type, fact.payload as PayloadOf<CoreType>, place) : state;
    case 'opaque':
      return state;
    case 'newer':
      return state.newer === undefined
        ? { ...state, newer: { type: fact.type, version: fact.version, revision: place.revision } }
        : state;
  }
}
