import type { Usage } from '@perdure/events';
import {
  reasonOf,
  type BudgetGuard,
  type BudgetSubject,
  type LlmCallContext,
  type LlmReleaseContext,
} from '@perdure/plugin-api';
import type { InvocationContext } from './invocation-context.js';
import { withTimeout } from './with-timeout.js';

export const GUARD_TIMEOUT_MS = 5_000;

type ReportContext = Pick<InvocationContext, 'signal' | 'logger'>;

/** Tells what an answer cost. Never throws. */
export function recordAfterLlm(
  guards: readonly BudgetGuard[],
  call: LlmCallContext,
  usage: Usage,
  context: ReportContext,
): Promise<void> {
  const { inputTokens: promptTokens, outputTokens: completionTokens } = usage;
  const { totalTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const told = { ...call, usage: { promptTokens, completionTokens, totalTokens, cacheReadTokens, cacheWriteTokens } };
  return report(guards, context, 'A budget guard did not record a model call.', (guard) =>
    guard.recordAfterLlm?.(told),
  );
}

/** Tells that a call came to no answer. Never throws. */
export function releaseAfterLlm(
  guards: readonly BudgetGuard[],
  call: LlmReleaseContext,
  context: ReportContext,
): Promise<void> {
  return report(guards, context, 'A budget guard did not release a model call.', (guard) =>
    guard.releaseAfterLlm?.(call),
  );
}

/** Tells that a run of a session ended, or that the session is let go. Never throws. */
export function afterTurn(
  guards: readonly BudgetGuard[],
  subject: BudgetSubject,
  context: ReportContext,
): Promise<void> {
  return report(guards, context, "A budget guard did not take in a turn's end.", (guard) => guard.afterTurn?.(subject));
}

/** All guards are told at once, before this returns: what they are asked next comes behind it. */
async function report(
  guards: readonly BudgetGuard[],
  { signal, logger }: ReportContext,
  failed: string,
  tell: (guard: BudgetGuard) => void | Promise<void> | undefined,
): Promise<void> {
  // What was spent was spent, also when the turn was stopped meanwhile.
  const inner = signal.aborted ? new AbortController().signal : signal;
  await Promise.all(
    guards.map(async (guard) => {
      try {
        await withTimeout(guard.timeoutMs ?? GUARD_TIMEOUT_MS, inner, async () => tell(guard));
      } catch (error) {
        logger.log('warn', failed, { reason: reasonOf(error) });
      }
    }),
  );
}
