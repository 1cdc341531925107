import { HookTeller } from '../hooks/hook-teller.js';
import { BudgetTeller } from '../invoke/budget-teller.js';
import type { SessionWork } from '../turn/session-work.js';
import type { CommittedFact } from './journal.js';
import type { SessionIndex } from './session-index.js';

/** Tells hooks and budgets of what is committed in a session, and that it is let go. */
export class FactTellers {
  private readonly hooks: HookTeller;
  private readonly budget: BudgetTeller;

  constructor(work: SessionWork, index: SessionIndex, signal: AbortSignal) {
    this.hooks = new HookTeller(work, index, signal);
    this.budget = new BudgetTeller(work, signal);
  }

  tellOf(fact: CommittedFact, isOwner: boolean): void {
    this.hooks.tellOf(fact, isOwner);
    this.budget.tellOf(fact, isOwner);
  }

  /** The session is let go. Resolves when all have taken in what they were told. */
  async tellEnd(wasOwner: boolean): Promise<void> {
    await Promise.all([this.hooks.tellEnd(), this.budget.tellEnd(wasOwner)]);
  }

  /** The session leaves memory, and goes on: nobody is told that it ends. */
  async settle(): Promise<void> {
    await this.budget.tellEnd(false);
  }
}
