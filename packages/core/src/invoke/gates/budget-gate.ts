import type { BudgetGuard } from '@perdure/plugin-api';
import { budgetSubject, checkBeforeTool } from '../budget.js';
import { denial, type GateStep } from './gate-step.js';

/** What may be spent. It holds for every call, also for those that the host vouches for. */
export function budgetGate(guard: BudgetGuard | undefined): GateStep {
  const id = 'budget';
  return {
    id,
    kind: 'waiting',
    digest: '',
    applies: () => guard?.checkBeforeTool !== undefined,
    decide: async ({ request }, context) => {
      if (guard === undefined) return {};
      const { callId, tool: toolName, input: args, sessionId } = request;
      const subject = budgetSubject({ sessionId, subject: context.subject });
      const { denied, hit } = await checkBeforeTool(guard, { ...subject, callId, toolName, args }, context.signal);
      const decision =
        denied === undefined
          ? ({ gate: id, decision: 'allow' } as const)
          : denial(id, 'PERDURE_BUDGET_EXHAUSTED', { ...denied });
      return { decision, ...(hit === undefined ? {} : { hit }) };
    },
  };
}
