import type { CoreType, ModelPurpose, PayloadOf } from '@perdure/events';
import { errorMessage, isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';
import type { AgentView, NamedModel } from '../host/agent-view.js';
import { recordAfterLlm, releaseAfterLlm } from '../invoke/budget-reports.js';
import { budgetSubject, checkBeforeLlm } from '../invoke/budget.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import type { ModelOutcome } from '../invoke/model-invoker.js';
import type { DraftedFact } from '../session/fact-batch.js';
import { NODE } from './record-intent.js';
import type { SessionWork } from './session-work.js';

/** A model call that is about to be made. */
export interface ModelCall {
  readonly purpose: ModelPurpose;
  readonly stepId?: string;
  readonly attempt: number;
  readonly model: NamedModel;
  /** The same for every try. */
  readonly callId: string;
  readonly estimatedTokens: number;
  readonly maxOutputTokens: number | undefined;
}

type MakeFact = <Type extends CoreType>(type: Type, payload: PayloadOf<Type>) => DraftedFact;

/** What the budget says of a model call: the facts that tell of its denial, or how far it may go. */
export type Admission =
  | { readonly status: 'denied'; readonly facts: readonly DraftedFact[] }
  | {
      readonly status: 'admitted';
      readonly maxOutputTokens: number | undefined;
      readonly abortSignals: readonly AbortSignal[];
    };

/**
 * Asks the budget whether a model call may be made. When it passes, limits that it came near to are in the stream
 * already. A call whose signal aborted meanwhile is denied without facts.
 */
export async function admitModelCall(
  call: ModelCall,
  agent: AgentView,
  work: SessionWork,
  context: InvocationContext,
  fact: MakeFact,
): Promise<Admission> {
  const guards = agent.budgetGuards;
  const { maxOutputTokens: wanted, estimatedTokens } = call;
  if (guards.length === 0) return { status: 'admitted', maxOutputTokens: wanted, abortSignals: [] };
  const asked = { ...budgetCall(call, context), estimatedTokens, maxOutputTokens: wanted ?? null };
  const { denied, hits, maxOutputTokens, abortSignals } = await checkBeforeLlm(guards, asked, context);
  if (context.signal.aborted) return { status: 'denied', facts: [] };
  if (denied === undefined) {
    if (hits.length > 0) {
      await work.journal.commit((batch) => {
        for (const hit of hits) batch.add('BudgetThresholdHit', hit, scopeOf(context), NODE);
      }, 'input');
    }
    return { status: 'admitted', maxOutputTokens, abortSignals };
  }
  const { code, resource, reason } = denied;
  const { purpose, stepId, attempt, model } = call;
  const payload = {
    purpose,
    ...(stepId === undefined ? {} : { stepId }),
    attempt,
    model: model.name,
    provider: model.model.provider,
    modelId: model.model.modelId,
    resource,
    failure: { code, message: errorMessage(code, { resource, reason }) },
  };
  const facts = [...hits.map((hit) => fact('BudgetThresholdHit', hit)), fact('ModelCallDenied', payload)];
  return { status: 'denied', facts };
}

/** Tells the budget what came of a model call that was admitted. */
export async function tellBudget(
  call: ModelCall,
  outcome: ModelOutcome,
  agent: AgentView,
  context: InvocationContext,
): Promise<void> {
  const guards = agent.budgetGuards;
  if (guards.length === 0) return;
  const told = budgetCall(call, context);
  if (outcome.status === 'answered') return recordAfterLlm(guards, told, outcome.usage, context);
  // One that a budget broke off had begun like one that a stop broke off.
  const wasBroken = outcome.status === 'aborted' || outcome.failure.failure.code === 'PERDURE_BUDGET_EXHAUSTED';
  return releaseAfterLlm(guards, { ...told, outcome: wasBroken ? 'aborted' : 'failed' }, context);
}

/** Tells the budget that a call that was admitted is not made. */
export function giveBack(call: ModelCall, agent: AgentView, context: InvocationContext): Promise<void> {
  return releaseAfterLlm(agent.budgetGuards, { ...budgetCall(call, context), outcome: 'denied' }, context);
}

/** The threshold that a call met under way, by why it was broken off; none when no budget did. */
export function hitOf(reason: unknown, fact: MakeFact): readonly DraftedFact[] {
  if (!isPerdureError(reason, 'PERDURE_BUDGET_EXHAUSTED')) return [];
  const { resource = 'budget_guard' } = reason.data;
  const hit = { resource: String(resource), kind: 'hard' as const, consumed: 0, limit: 0, message: reason.message };
  return [fact('BudgetThresholdHit', hit)];
}

/** Breaks a model call off when its budget ends, until the function that it returns is called. */
export function breakOffWith(signals: readonly AbortSignal[], controller: AbortController): () => void {
  const ends = signals.map((signal) => {
    const end = (): void => controller.abort(exhausted(signal.reason));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  });
  return () => {
    for (const end of ends) end();
  };
}

function exhausted(reason: unknown): PerdureError {
  if (isPerdureError(reason, 'PERDURE_BUDGET_EXHAUSTED')) return reason;
  return new PerdureError('PERDURE_BUDGET_EXHAUSTED', { resource: 'budget_guard', reason: reasonOf(reason) });
}

/** A model call as budgets know it. */
function budgetCall({ callId, model }: Pick<ModelCall, 'callId' | 'model'>, context: InvocationContext) {
  const { provider, modelId } = model.model;
  return { ...budgetSubject(context), callId, model: model.name, provider, modelId };
}

function scopeOf({ turnId, runId, stepId }: InvocationContext) {
  return { turnId, runId, stepId };
}
