import type { PayloadOf } from '@perdure/events';
import type { BudgetSubject } from '@perdure/plugin-api';
import type { CommittedFact } from '../session/journal.js';
import { invocationContextOf } from '../turn/invocation-context-of.js';
import type { SessionWork } from '../turn/session-work.js';
import { afterTurn } from './budget-reports.js';
import { budgetSubject } from './budget.js';

/** Tells budgets that a run ended or the session is let go here: what they hold for it is not needed any more. */
export class BudgetTeller {
  private readonly told = new Set<Promise<void>>();

  constructor(
    private readonly work: SessionWork,
    private readonly signal: AbortSignal,
  ) {}

  tellOf({ type, payload }: CommittedFact, isOwner: boolean): void {
    if (!isOwner) return;
    if (type === 'ToolCallSettled' || isOfTitle(payload)) return this.tellIdle();
    if (type !== 'RunEnded') return;
    const { turnId, runId } = payload as PayloadOf<'RunEnded'>;
    this.tell({ turnId, runId });
  }

  /** A call of the host, or for a title, in a session without a turn: no turn's end would come behind it. */
  private tellIdle(): void {
    const { open, hostCalls } = this.work.journal.state;
    if (open.length === 0 && hostCalls.length === 0) this.tell();
  }

  /** Resolves when budgets have taken in all that they were told. */
  async tellEnd(wasOwner: boolean): Promise<void> {
    if (wasOwner) this.tell();
    await Promise.all(this.told);
  }

  private tell(ended: Partial<Pick<BudgetSubject, 'turnId' | 'runId'>> = {}): void {
    const { work, signal } = this;
    const guards = work.agent().budgetGuards.filter((guard) => guard.afterTurn !== undefined);
    if (guards.length === 0) return;
    const context = invocationContextOf(work, work.journal.state, signal);
    const telling = afterTurn(guards, { ...budgetSubject(context), ...ended }, context);
    this.told.add(telling);
    void telling.finally(() => this.told.delete(telling));
  }
}

/** Whether a fact tells what came of a model call for a title. */
function isOfTitle(payload: unknown): boolean {
  return (payload as { readonly purpose?: unknown }).purpose === 'title';
}
