import type { BudgetAmount } from '@perdure/events';
import { NOTHING, RESOURCES, times } from './amount.js';
import type { Free } from './budget-state.js';
import { costOf, type Price } from './prices.js';

/** A model call that wants to be made. */
export interface ModelCallNeed {
  readonly estimatedTokens: number;
  readonly maxOutputTokens: number;
  /** `undefined` while its price is unknown, which is enough where money is not limited. */
  readonly price: Price | undefined;
}

export interface GrantRules {
  /** The most calls for which a session holds budget at once. */
  readonly blockCalls: number;
  /** An answer is not asked for with less than this, or than the agent wants. */
  readonly minOutputTokens: number;
}

export type Grant =
  | {
      readonly status: 'granted';
      /** For all calls of the block. */
      readonly amount: BudgetAmount;
      /** For one. */
      readonly unit: BudgetAmount;
      readonly maxOutputTokens: number;
    }
  | { readonly status: 'denied'; readonly resource: string; readonly reason: string };

/** One session holds no more than this part of what is left: others are to find something too. */
const SHARE = 4;

/**
 * What a session may hold for a model call: a block of several calls' worth while plenty is left, else exactly the one
 * call, with a shorter answer when the whole one has no room. Pure.
 */
export function grantModelCall(free: Free, need: ModelCallNeed, rules: GrantRules): Grant {
  if (free.calls !== undefined && free.calls < 1) return denied('calls', free.calls, 1);
  const wanted = need.maxOutputTokens;
  const floor = Math.min(wanted, rules.minOutputTokens);
  const byTokens = free.tokens === undefined ? wanted : free.tokens - need.estimatedTokens;
  if (byTokens < floor) return denied('tokens', free.tokens ?? 0, need.estimatedTokens + floor);
  const byMoney = free.micros === undefined ? wanted : affordableOutput(free.micros, need);
  if (byMoney < floor) return denied('money', free.micros ?? 0, unitOf(need, floor).micros);
  const maxOutputTokens = Math.min(wanted, byTokens, byMoney);
  const unit = unitOf(need, maxOutputTokens);
  const calls = maxOutputTokens < wanted ? 1 : callsOfBlock(free, unit, rules.blockCalls);
  const amount = times(unit, calls);
  if (free.calls === undefined) return { status: 'granted', amount, unit, maxOutputTokens };
  // Most model calls bring tool calls with them.
  const counted = clamp(Math.floor(free.calls / SHARE), 1, 2 * calls);
  return { status: 'granted', amount: { ...amount, calls: counted }, unit, maxOutputTokens };
}

/** What a session may hold for tool calls. They are counted and cost nothing. */
export function grantToolCall(free: Free, { blockCalls }: GrantRules): Grant {
  const unit = { ...NOTHING, calls: 1 };
  const { calls = Number.POSITIVE_INFINITY } = free;
  if (calls < 1) return denied('calls', calls, 1);
  const amount = times(unit, clamp(Math.floor(calls / SHARE), 1, blockCalls));
  return { status: 'granted', amount, unit, maxOutputTokens: 0 };
}

/** What a model call is taken to cost at the most: its request, and an answer that is as long as it may be. */
export function unitOf({ estimatedTokens, price }: ModelCallNeed, maxOutputTokens: number): BudgetAmount {
  return {
    tokens: estimatedTokens + maxOutputTokens,
    micros: costOf(price, { input: estimatedTokens, cached: 0, output: maxOutputTokens }),
    calls: 1,
  };
}

function affordableOutput(micros: number, { estimatedTokens, price }: ModelCallNeed): number {
  if (price === undefined) return Number.NEGATIVE_INFINITY;
  const left = micros * 1_000_000 - estimatedTokens * price.input;
  if (left < 0) return Number.NEGATIVE_INFINITY;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / price.output);
}

function callsOfBlock(free: Free, unit: BudgetAmount, most: number): number {
  const fitting = RESOURCES.flatMap((resource) => {
    const left = free[resource];
    return left === undefined || unit[resource] === 0 ? [] : [Math.floor(left / unit[resource] / SHARE)];
  });
  return clamp(Math.min(...fitting, most), 1, most);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

function denied(resource: string, left: number, needed: number): Grant {
  return { status: 'denied', resource, reason: `${Math.max(0, left)} left, ${needed} needed` };
}
