import type { CoreType, ModelPurpose, PayloadOf } from '@perdure/events';
import { errorMessage } from '@perdure/plugin-api';
import type { AgentView, NamedModel } from '../host/agent-view.js';
import { budgetSubject, checkBeforeLlm } from '../invoke/budget.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
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

/**
 * Asks the budget whether a model call may be made. What it is denied by is told as facts; `undefined` lets it pass,
 * and then a limit that it came near to is in the stream already.
 */
export async function admitModelCall(
  call: ModelCall,
  agent: AgentView,
  work: SessionWork,
  context: InvocationContext,
  fact: MakeFact,
): Promise<readonly DraftedFact[] | undefined> {
  const { budgetGuard } = agent.parts;
  if (budgetGuard?.checkBeforeLlm === undefined) return undefined;
  const asked = {
    ...budgetCall(call, context),
    estimatedTokens: call.estimatedTokens,
    maxOutputTokens: call.maxOutputTokens ?? null,
  };
  const { denied, hit } = await checkBeforeLlm(budgetGuard, asked, context.signal);
  if (denied === undefined) {
    if (hit !== undefined) {
      await work.journal.commit((batch) => batch.add('BudgetThresholdHit', hit, scopeOf(context), NODE), 'input');
    }
    return undefined;
  }
  const code = 'PERDURE_BUDGET_EXHAUSTED';
  const { purpose, stepId, attempt, model } = call;
  const payload = {
    purpose,
    ...(stepId === undefined ? {} : { stepId }),
    attempt,
    model: model.name,
    provider: model.model.provider,
    modelId: model.model.modelId,
    resource: denied.resource,
    failure: { code, message: errorMessage(code, { ...denied }) },
  };
  const denial = fact('ModelCallDenied', payload);
  return hit === undefined ? [denial] : [fact('BudgetThresholdHit', hit), denial];
}

/** A model call as budgets know it. */
export function budgetCall({ callId, model }: Pick<ModelCall, 'callId' | 'model'>, context: InvocationContext) {
  const { provider, modelId } = model.model;
  return { ...budgetSubject(context), callId, model: model.name, provider, modelId };
}

function scopeOf({ turnId, runId, stepId }: InvocationContext) {
  return { turnId, runId, stepId };
}
