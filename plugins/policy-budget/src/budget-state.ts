import type { BudgetAmount, BudgetFact, BudgetLimits, BudgetPayloadOf } from '@perdure/events';
import { minus, NOTHING, plus, RESOURCES, type Resource } from './amount.js';

/** A block that a session holds. `position` is the place in the store from which on its calls may have been made. */
export type Reservation = BudgetPayloadOf<'BudgetReserved'> & { readonly position: string };

/** What a tree of sessions may spend and has spent: the fold of its budget stream and nothing else. Immutable. */
export interface BudgetState {
  /** `undefined` until a limit was set for the first time: then nothing is counted. */
  readonly limits: BudgetLimits | undefined;
  /** The part of a limit at which sessions are warned. */
  readonly soft: number | undefined;
  readonly spent: BudgetAmount;
  /** The sum of the open reservations. */
  readonly held: BudgetAmount;
  readonly open: ReadonlyMap<string, Reservation>;
}

export const noBudget: BudgetState = {
  limits: undefined,
  soft: undefined,
  spent: NOTHING,
  held: NOTHING,
  open: new Map(),
};

/** The state after a fact. A reservation that is open already, and the end of one that is not, change nothing. */
export function evolveBudget(state: BudgetState, fact: BudgetFact, position: string): BudgetState {
  switch (fact.type) {
    case 'BudgetLimitSet':
      return { ...state, limits: fact.payload.limits, soft: fact.payload.soft };
    case 'BudgetReserved': {
      const { payload } = fact;
      if (state.open.has(payload.reservation)) return state;
      const open = new Map(state.open).set(payload.reservation, { ...payload, position });
      return { ...state, open, held: plus(state.held, payload.amount) };
    }
    case 'BudgetSettled':
      return ended(state, fact.payload.reservation, fact.payload.amount);
    case 'BudgetReleased':
      return ended(state, fact.payload.reservation, NOTHING);
  }
}

function ended(state: BudgetState, reservation: string, spent: BudgetAmount): BudgetState {
  const known = state.open.get(reservation);
  if (known === undefined) return state;
  const open = new Map(state.open);
  open.delete(reservation);
  return { ...state, open, held: minus(state.held, known.amount), spent: plus(state.spent, spent) };
}

/** What may still be reserved of what is limited; it is below zero when calls came to more than they held. */
export type Free = { readonly [Name in Resource]?: number };

export function freeOf({ limits, spent, held }: BudgetState): Free {
  const free: { [Name in Resource]?: number } = {};
  for (const resource of RESOURCES) {
    const limit = limits?.[resource];
    if (limit !== undefined) free[resource] = limit - spent[resource] - held[resource];
  }
  return free;
}
