import type { JsonValue } from '@perdure/events';

/** Where a call is made that a budget is asked about. */
export interface BudgetSubject {
  readonly sessionId: string;
  readonly tenantId: string | null;
  readonly principal: string | null;
  readonly turnId: string | null;
  readonly runId: string | null;
}

export interface LlmBudgetContext extends BudgetSubject {
  /** The model by its name in the agent, and the provider's names. */
  readonly model: string;
  readonly provider: string;
  readonly modelId: string;
  /** The same for every try of one call: a reservation under it is made once. */
  readonly callId: string;
  /** Tokens of the request, estimated from its length. */
  readonly estimatedTokens: number;
  /** How long the answer may be, where that is limited. */
  readonly maxOutputTokens: number | null;
}

export interface LlmUsageContext extends Omit<LlmBudgetContext, 'estimatedTokens' | 'maxOutputTokens'> {
  readonly usage: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly totalTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: number;
  };
}

export interface ToolBudgetContext extends BudgetSubject {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonValue;
}

/** What a guard answers; nothing is the same as `allow`. `soft` lets the call pass and tells that a limit is near. */
export type BudgetDecision =
  | { readonly decision: 'allow' }
  | {
      readonly decision: 'soft';
      readonly resource: string;
      readonly consumed: number;
      readonly limit: number;
      readonly message?: string;
    }
  | { readonly decision: 'deny'; readonly resource: string; readonly reason: string };

type Answer = BudgetDecision | null | undefined | void;

/**
 * The host's own say about what may be spent. It is asked before every model call and before every tool call, and told
 * what an answer cost. A method that is missing allows. A check that throws, takes longer than `timeoutMs` or answers
 * something else denies; a record that fails is reported and changes nothing.
 */
export interface BudgetGuard {
  /** 5,000 when absent. */
  readonly timeoutMs?: number;
  checkBeforeLlm?(context: LlmBudgetContext): Answer | Promise<Answer>;
  /** Called after an answer that came whole, before anything else happens. */
  recordAfterLlm?(context: LlmUsageContext): void | Promise<void>;
  checkBeforeTool?(context: ToolBudgetContext): Answer | Promise<Answer>;
}
