import { z } from 'zod';
import { defineEvent, type EventDefinition } from './define-event.js';

const whole = z.int().nonnegative();

/**
 * What is spent or held. `micros` are millionths of the currency that prices are told in; `calls` counts calls of
 * models and of tools.
 */
export const budgetAmount = z.strictObject({ tokens: whole, micros: whole, calls: whole });
export type BudgetAmount = z.output<typeof budgetAmount>;

/** What a tree of sessions may spend; a member that is absent is not limited. `endsAt` is in epoch milliseconds. */
export const budgetLimits = z.strictObject({
  tokens: whole.exactOptional(),
  micros: whole.exactOptional(),
  calls: whole.exactOptional(),
  endsAt: z.int().exactOptional(),
});
export type BudgetLimits = z.output<typeof budgetLimits>;

/** The tree's limits from here on: the whole set. `soft` is the part of a limit at which sessions are warned. */
const budgetLimitSet = defineEvent({
  type: 'BudgetLimitSet',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ limits: budgetLimits, soft: z.number().positive().max(1).exactOptional() }),
  wire: {
    type: 'budget_limit_set',
    payload: ({ limits: { tokens, micros, calls, endsAt }, soft }) => ({
      limits: {
        ...(tokens === undefined ? {} : { tokens }),
        ...(micros === undefined ? {} : { micros }),
        ...(calls === undefined ? {} : { calls }),
        ...(endsAt === undefined ? {} : { ends_at: endsAt }),
      },
      soft,
    }),
  },
});

/**
 * A session holds a block of the budget, for calls that begin with `callId`. `unit` is what one model call of the block
 * is taken to cost at the most; `holder` is the process that draws from it. The same reservation again, while it is
 * open, is nothing.
 */
const budgetReserved = defineEvent({
  type: 'BudgetReserved',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    reservation: z.string(),
    sessionId: z.string(),
    callId: z.string(),
    holder: z.string(),
    amount: budgetAmount,
    unit: budgetAmount,
  }),
  wire: {
    type: 'budget_reserved',
    payload: ({ reservation, sessionId, callId, holder, amount, unit }) => {
      return { reservation, session_id: sessionId, call_id: callId, holder, amount, unit };
    },
  },
});

/**
 * A reservation ends and `amount` of it was spent; the rest is free again. `left-behind`: the owner of the session died
 * or lost it, and whoever came next worked the amount out.
 */
const budgetSettled = defineEvent({
  type: 'BudgetSettled',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    reservation: z.string(),
    sessionId: z.string(),
    amount: budgetAmount,
    reason: z.enum(['used', 'turn-ended', 'left-behind']),
  }),
  wire: {
    type: 'budget_settled',
    payload: ({ reservation, sessionId, amount, reason }) => ({ reservation, session_id: sessionId, amount, reason }),
  },
});

/** A reservation ends and nothing of it was spent. */
const budgetReleased = defineEvent({
  type: 'BudgetReleased',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    reservation: z.string(),
    sessionId: z.string(),
    reason: z.enum(['used', 'turn-ended', 'left-behind']),
  }),
  wire: {
    type: 'budget_released',
    payload: ({ reservation, sessionId, reason }) => ({ reservation, session_id: sessionId, reason }),
  },
});

/**
 * The facts of the streams `budget-<tenant>.<root session>`. They are appended by any node at the exact revision, and
 * are no part of any session: a session stream that held one would be of a newer build.
 */
export const budgetCatalogue = {
  BudgetLimitSet: budgetLimitSet,
  BudgetReserved: budgetReserved,
  BudgetSettled: budgetSettled,
  BudgetReleased: budgetReleased,
} as const;

export type BudgetType = keyof typeof budgetCatalogue;
export type BudgetPayloadOf<Type extends BudgetType> = z.output<(typeof budgetCatalogue)[Type]['schema']>;

/** A budget fact before it is stored. */
export type BudgetFact = {
  [Type in BudgetType]: { readonly type: Type; readonly payload: BudgetPayloadOf<Type> };
}[BudgetType];

export const budgetTypes = Object.keys(budgetCatalogue) as readonly BudgetType[];

export function isBudgetType(type: string): type is BudgetType {
  return Object.hasOwn(budgetCatalogue, type);
}

/** The definition of a budget fact, without its exact payload. */
export function budgetDefinition(type: BudgetType): EventDefinition {
  return budgetCatalogue[type] as unknown as EventDefinition;
}
