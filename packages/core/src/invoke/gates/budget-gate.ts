import type { BudgetGuard } from '@perdure/plugin-api';
import { budgetSubject, checkBeforeTool, guardsTools } from '../budget.js';
import { denial, type GateStep } from './gate-step.js';

export const BUDGET_GATE = 'budget';

/** What may be spent. It holds for every call, also for those that the host vouches for. */
export function budgetGate(guards: readonly BudgetGuard[]): GateStep {
  const asking = guards.filter(({ checkBeforeTool: check }) => check !== undefined);
  const id = BUDGET_GATE;
  return {
    id,
    kind: 'waiting',
    digest: '',
    applies: ({ request: { sessionId } }, context) =>
      asking.some((guard) => guardsTools(guard, budgetSubject({ ...context, sessionId }))),
    decide: async ({ request }, context) => {
      const { callId, tool: toolName, input: args, sessionId } = request;
      const call = { ...budgetSubject({ ...context, sessionId }), callId, toolName, args };
      const { denied, hits } = await checkBeforeTool(asking, call, context.signal);
      const decision =
        denied === undefined
          ? ({ gate: id, decision: 'allow' } as const)
          : denial(id, denied.code, { resource: denied.resource, reason: denied.reason });
      return { decision, hits };
    },
  };
}
