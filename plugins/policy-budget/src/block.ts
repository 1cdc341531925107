import type { BudgetAmount, BudgetFact, BudgetPayloadOf } from '@perdure/events';
import { isNothing, minus, NOTHING, plus, RESOURCES } from './amount.js';
import type { Free } from './budget-state.js';

/** A model call that has taken from a block and has not come to its end. */
export interface CallUnderWay {
  readonly amount: BudgetAmount;
  readonly maxOutputTokens: number;
}

/** A reservation as its holder draws from it, without a word to the store. */
export class Block {
  private left: BudgetAmount;
  private used = NOTHING;
  private readonly underWay = new Map<string, CallUnderWay>();
  private readonly tools = new Set<string>();

  constructor(
    readonly reservation: string,
    private readonly sessionId: string,
    amount: BudgetAmount,
  ) {
    this.left = amount;
  }

  /** Whether no call that took from it is under way: then it can be settled. */
  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Whether it has an amount, as far as the resources of `free` are limited. */
  has(amount: BudgetAmount, free: Free): boolean {
    return RESOURCES.every((resource) => free[resource] === undefined || this.left[resource] >= amount[resource]);
  }

  take(callId: string, call: CallUnderWay): void {
    this.underWay.set(callId, call);
    this.left = minus(this.left, call.amount);
  }

  call(callId: string): CallUnderWay | undefined {
    return this.underWay.get(callId);
  }

  /** A call came to its end and cost what it cost. */
  settle(callId: string, spent: BudgetAmount): void {
    const call = this.underWay.get(callId);
    if (call === undefined) return;
    this.underWay.delete(callId);
    this.used = plus(this.used, spent);
    this.left = plus(this.left, minus(call.amount, spent));
  }

  takeTool(callId: string): void {
    const one = { ...NOTHING, calls: 1 };
    this.tools.add(callId);
    this.used = plus(this.used, one);
    this.left = minus(this.left, one);
  }

  hasTool(callId: string): boolean {
    return this.tools.has(callId);
  }

  /** The fact that ends it. */
  end(reason: BudgetPayloadOf<'BudgetSettled'>['reason']): BudgetFact {
    const { reservation, sessionId, used } = this;
    if (isNothing(used)) return { type: 'BudgetReleased', payload: { reservation, sessionId, reason } };
    return { type: 'BudgetSettled', payload: { reservation, sessionId, amount: used, reason } };
  }
}
