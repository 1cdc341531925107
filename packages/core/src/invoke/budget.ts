import type { PayloadOf, Usage } from '@perdure/events';
import {
  errorMessage,
  reasonOf,
  type BudgetDecision,
  type BudgetGuard,
  type BudgetSubject,
  type LlmBudgetContext,
  type LlmUsageContext,
  type ToolBudgetContext,
} from '@perdure/plugin-api';
import { z } from 'zod';
import type { InvocationContext } from './invocation-context.js';
import { withTimeout } from './with-timeout.js';

const TIMEOUT_MS = 5_000;

/** What a budget says of a call. `hit` is the threshold that it met. */
export interface BudgetAnswer {
  readonly denied: { readonly resource: string; readonly reason: string } | undefined;
  readonly hit: PayloadOf<'BudgetThresholdHit'> | undefined;
}

const ALLOWED: BudgetAnswer = { denied: undefined, hit: undefined };

const answerShape = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('allow') }),
  z.object({
    decision: z.literal('soft'),
    resource: z.string(),
    consumed: z.number(),
    limit: z.number(),
    message: z.string().exactOptional(),
  }),
  z.object({ decision: z.literal('deny'), resource: z.string(), reason: z.string() }),
]) satisfies z.ZodType<BudgetDecision>;

export function checkBeforeLlm(
  guard: BudgetGuard | undefined,
  call: LlmBudgetContext,
  signal: AbortSignal,
): BudgetAnswer | Promise<BudgetAnswer> {
  if (guard?.checkBeforeLlm === undefined) return ALLOWED;
  return ask(guard, signal, () => guard.checkBeforeLlm?.(call));
}

export function checkBeforeTool(
  guard: BudgetGuard,
  call: ToolBudgetContext,
  signal: AbortSignal,
): Promise<BudgetAnswer> {
  return ask(guard, signal, () => guard.checkBeforeTool?.(call));
}

/** Tells what an answer cost. Never throws. */
export async function recordAfterLlm(
  guard: BudgetGuard | undefined,
  call: Omit<LlmUsageContext, 'usage'>,
  usage: Usage,
  { signal, logger }: Pick<InvocationContext, 'signal' | 'logger'>,
): Promise<void> {
  if (guard?.recordAfterLlm === undefined) return;
  const { inputTokens: promptTokens, outputTokens: completionTokens } = usage;
  const { totalTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const told = { ...call, usage: { promptTokens, completionTokens, totalTokens, cacheReadTokens, cacheWriteTokens } };
  try {
    // What was spent was spent, also when the turn was stopped meanwhile.
    const inner = signal.aborted ? new AbortController().signal : signal;
    await withTimeout(guard.timeoutMs ?? TIMEOUT_MS, inner, async () => guard.recordAfterLlm?.(told));
  } catch (error) {
    logger.log('warn', 'A budget guard did not record a model call.', { reason: reasonOf(error) });
  }
}

export function budgetSubject({ sessionId, subject }: Pick<InvocationContext, 'sessionId' | 'subject'>): BudgetSubject {
  const { tenant_id: tenantId, principal, turn_id: turnId, run_id: runId } = subject();
  return { sessionId, tenantId, principal, turnId, runId };
}

/** No answer, an error or a time-out is a denial. */
async function ask(guard: BudgetGuard, signal: AbortSignal, check: () => unknown): Promise<BudgetAnswer> {
  try {
    const answer = await withTimeout(guard.timeoutMs ?? TIMEOUT_MS, signal, async () => check());
    if (answer === undefined || answer === null) return ALLOWED;
    const parsed = answerShape.safeParse(answer);
    if (!parsed.success) throw new TypeError('it answered none of allow, soft and deny');
    return answerOf(parsed.data);
  } catch (error) {
    signal.throwIfAborted();
    return answerOf({
      decision: 'deny',
      resource: 'budget_guard',
      reason: errorMessage('PERDURE_GATE_FAILED', { gate: 'budget', reason: reasonOf(error) }),
    });
  }
}

function answerOf(decision: z.output<typeof answerShape>): BudgetAnswer {
  switch (decision.decision) {
    case 'allow':
      return ALLOWED;
    case 'soft': {
      const { resource, consumed, limit, message } = decision;
      const hit = { resource, kind: 'soft' as const, consumed, limit, ...(message === undefined ? {} : { message }) };
      return { denied: undefined, hit };
    }
    case 'deny': {
      const { resource, reason } = decision;
      const hit = { resource, kind: 'hard' as const, consumed: 0, limit: 0, message: reason };
      return { denied: { resource, reason }, hit };
    }
  }
}
