import type { PayloadOf } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  reasonOf,
  type BudgetDecision,
  type BudgetGuard,
  type BudgetSubject,
  type LlmBudgetContext,
  type ToolBudgetContext,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { GUARD_TIMEOUT_MS, releaseAfterLlm } from './budget-reports.js';
import type { InvocationContext } from './invocation-context.js';
import { refuseLater } from './refuse-later.js';
import { withTimeout } from './with-timeout.js';

const ENDED = { resource: 'budget_guard', reason: 'the call was broken off while its budget was asked' } as const;

type Denial = Extract<z.output<typeof answerShape>, { decision: 'deny' }>;

/** What all budgets together say of a call. `hits` are the thresholds that it met. */
export interface BudgetAnswer {
  readonly denied: (Pick<Denial, 'resource' | 'reason'> & { readonly code: NonNullable<Denial['code']> }) | undefined;
  readonly hits: readonly PayloadOf<'BudgetThresholdHit'>[];
  /** How long the answer may be, where a guard or the agent limits it. */
  readonly maxOutputTokens: number | undefined;
  /** Those that break the call off. */
  readonly abortSignals: readonly AbortSignal[];
}

const bounds = {
  maxOutputTokens: z.int().positive().exactOptional(),
  abortSignal: z.instanceof(AbortSignal).exactOptional(),
};
const answerShape = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('allow'), ...bounds }),
  z.object({
    decision: z.literal('soft'),
    resource: z.string().max(4_096),
    consumed: z.number(),
    limit: z.number(),
    message: z.string().max(4_096).exactOptional(),
    ...bounds,
  }),
  z.object({
    decision: z.literal('deny'),
    resource: z.string().max(4_096),
    reason: z.string().max(4_096),
    code: z.enum(['PERDURE_BUDGET_EXHAUSTED', 'PERDURE_BUDGET_PRICE_UNKNOWN']).exactOptional(),
  }),
]) satisfies z.ZodType<BudgetDecision>;

/** The guard of the host, and behind it those of plugins: what they hold for a call, the host has agreed to. */
export function budgetGuards(parts: {
  readonly budgetGuard: BudgetGuard | undefined;
  readonly pluginGuards: readonly BudgetGuard[];
}): readonly BudgetGuard[] {
  return parts.budgetGuard === undefined ? parts.pluginGuards : [parts.budgetGuard, ...parts.pluginGuards];
}

/**
 * Asks the guards one after the other; the first denial ends it, and those before it are told. A call whose signal
 * aborts meanwhile is denied too.
 */
export async function checkBeforeLlm(
  guards: readonly BudgetGuard[],
  call: LlmBudgetContext,
  context: Pick<InvocationContext, 'signal' | 'logger'>,
): Promise<BudgetAnswer> {
  const { estimatedTokens: _, maxOutputTokens: __, ...told } = call;
  let answer: BudgetAnswer = { ...ALLOWED, maxOutputTokens: call.maxOutputTokens ?? undefined };
  const asked: BudgetGuard[] = [];
  for (const guard of guards) {
    if (guard.checkBeforeLlm === undefined) continue;
    asked.push(guard);
    const maxOutputTokens = answer.maxOutputTokens ?? null;
    const decision = await ask(guard, context.signal, () => guard.checkBeforeLlm?.({ ...call, maxOutputTokens }));
    answer = withDecision(answer, decision);
    if (answer.denied === undefined) continue;
    await releaseAfterLlm(asked, { ...told, outcome: 'denied' }, context);
    break;
  }
  return answer;
}

export async function checkBeforeTool(
  guards: readonly BudgetGuard[],
  call: ToolBudgetContext,
  signal: AbortSignal,
): Promise<BudgetAnswer> {
  let answer = ALLOWED;
  for (const guard of guards) {
    if (!guardsTools(guard, call)) continue;
    answer = withDecision(answer, await ask(guard, signal, () => guard.checkBeforeTool?.(call)));
    if (answer.denied !== undefined) break;
  }
  return answer;
}

/** A guard that cannot say is asked. */
export function guardsTools(guard: BudgetGuard, subject: BudgetSubject): boolean {
  try {
    return refuseLater(guard.guardsTools?.(subject) as unknown) !== false;
  } catch {
    return true;
  }
}

export function budgetSubject({
  sessionId,
  rootSessionId,
  tenant,
  subject,
}: Pick<InvocationContext, 'sessionId' | 'rootSessionId' | 'tenant' | 'subject'>): BudgetSubject {
  const { tenant_id: tenantId, principal, turn_id: turnId, run_id: runId } = subject();
  return { sessionId, rootSessionId, tenant: tenant ?? null, tenantId, principal, turnId, runId };
}

const ALLOWED: BudgetAnswer = { denied: undefined, hits: [], maxOutputTokens: undefined, abortSignals: [] };

/** No answer, an error or a time-out is a denial. */
async function ask(
  guard: BudgetGuard,
  signal: AbortSignal,
  check: () => unknown,
): Promise<z.output<typeof answerShape>> {
  try {
    const answer = await withTimeout(guard.timeoutMs ?? GUARD_TIMEOUT_MS, signal, async () => check());
    if (answer === undefined || answer === null) return { decision: 'allow' };
    const parsed = answerShape.safeParse(answer);
    if (!parsed.success) throw new TypeError('it answered none of allow, soft and deny');
    return parsed.data;
  } catch (error) {
    if (signal.aborted) return { decision: 'deny', ...ENDED };
    const cause = isPerdureError(error) ? error.message : reasonOf(error);
    const reason = errorMessage('PERDURE_GATE_FAILED', { gate: 'budget', reason: cause });
    return { decision: 'deny', resource: 'budget_guard', reason };
  }
}

function withDecision(answer: BudgetAnswer, decision: z.output<typeof answerShape>): BudgetAnswer {
  if (decision.decision === 'deny') {
    const { resource, reason, code = 'PERDURE_BUDGET_EXHAUSTED' } = decision;
    const hit = { resource, kind: 'hard' as const, consumed: 0, limit: 0, message: reason };
    return { ...answer, denied: { resource, reason, code }, hits: [...answer.hits, hit] };
  }
  const { maxOutputTokens, abortSignal } = decision;
  const bounded: BudgetAnswer = {
    ...answer,
    maxOutputTokens: lower(answer.maxOutputTokens, maxOutputTokens),
    abortSignals: abortSignal === undefined ? answer.abortSignals : [...answer.abortSignals, abortSignal],
  };
  if (decision.decision === 'allow') return bounded;
  const { resource, consumed, limit, message } = decision;
  const hit = { resource, kind: 'soft' as const, consumed, limit, ...(message === undefined ? {} : { message }) };
  return { ...bounded, hits: [...answer.hits, hit] };
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
