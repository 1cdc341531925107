import type { BudgetAmount } from '@perdure/events';

/** What is limited by amount. */
export type Resource = keyof BudgetAmount;
export const RESOURCES = ['tokens', 'micros', 'calls'] as const satisfies readonly Resource[];

export const NOTHING: BudgetAmount = { tokens: 0, micros: 0, calls: 0 };

/** Amounts that are left may be below zero: what a call came to is known behind it. */
export function plus(a: BudgetAmount, b: BudgetAmount): BudgetAmount {
  return { tokens: a.tokens + b.tokens, micros: a.micros + b.micros, calls: a.calls + b.calls };
}

export function minus(a: BudgetAmount, b: BudgetAmount): BudgetAmount {
  return { tokens: a.tokens - b.tokens, micros: a.micros - b.micros, calls: a.calls - b.calls };
}

export function times(a: BudgetAmount, factor: number): BudgetAmount {
  return { tokens: a.tokens * factor, micros: a.micros * factor, calls: a.calls * factor };
}

export function isNothing({ tokens, micros, calls }: BudgetAmount): boolean {
  return tokens === 0 && micros === 0 && calls === 0;
}
