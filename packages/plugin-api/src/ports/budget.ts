import type { JsonValue } from '@perdure/events';

/** Where a call is made that a budget is asked about. */
export interface BudgetSubject {
  readonly sessionId: string;
  /** The session at the top of its tree: itself when it has no parent. */
  readonly rootSessionId: string;
  /** The isolating tenant of both. `tenantId` is a label and isolates nothing. */
  readonly tenant: string | null;
  readonly tenantId: string | null;
  readonly principal: string | null;
  readonly turnId: string | null;
  readonly runId: string | null;
}

/** A model call as budgets know it. */
export interface LlmCallContext extends BudgetSubject {
  /** The model by its name in the agent, and the provider's names. */
  readonly model: string;
  readonly provider: string;
  readonly modelId: string;
  /** The same for every try of one call: a reservation under it is made once. */
  readonly callId: string;
}

export interface LlmBudgetContext extends LlmCallContext {
  /** Tokens of the request, estimated from its length. */
  readonly estimatedTokens: number;
  /** How long the answer may be, where that is limited. */
  readonly maxOutputTokens: number | null;
}

export interface LlmUsageContext extends LlmCallContext {
  readonly usage: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly totalTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: number;
  };
}

/**
 * A call that came to no answer: it was not made (another guard denied it, or the turn ended), the provider failed, or
 * it was broken off under way.
 */
export interface LlmReleaseContext extends LlmCallContext {
  readonly outcome: 'denied' | 'failed' | 'aborted';
}

export interface ToolBudgetContext extends BudgetSubject {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonValue;
}

/** How far a model call may go. Of several guards the lowest limit counts. */
interface CallBounds {
  /** The answer is asked for with at most so many tokens. */
  readonly maxOutputTokens?: number;
  /** The call is broken off when it aborts, and fails with PERDURE_BUDGET_EXHAUSTED. */
  readonly abortSignal?: AbortSignal;
}

/**
 * What a guard answers; nothing is the same as `allow`. `soft` lets the call pass and tells that a limit is near. The
 * `code` of a denial is PERDURE_BUDGET_EXHAUSTED when it is absent.
 */
export type BudgetDecision =
  | ({ readonly decision: 'allow' } & CallBounds)
  | ({
      readonly decision: 'soft';
      readonly resource: string;
      readonly consumed: number;
      readonly limit: number;
      readonly message?: string;
    } & CallBounds)
  | {
      readonly decision: 'deny';
      readonly resource: string;
      readonly reason: string;
      readonly code?: 'PERDURE_BUDGET_EXHAUSTED' | 'PERDURE_BUDGET_PRICE_UNKNOWN';
    };

type Answer = BudgetDecision | null | undefined | void;

/**
 * Someone's say about what may be spent. It is asked before every model call and before every tool call, and told what
 * came of model calls. A method that is missing allows. A check that throws, takes longer than `timeoutMs` or answers
 * something else denies; what it is told of and cannot take in is reported and changes nothing.
 */
export interface BudgetGuard {
  /** 5,000 when absent. */
  readonly timeoutMs?: number;
  checkBeforeLlm?(context: LlmBudgetContext): Answer | Promise<Answer>;
  /** Called after an answer that came whole, before anything else happens. */
  recordAfterLlm?(context: LlmUsageContext): void | Promise<void>;
  /** Called for a call that the guard was asked about and that came to no answer, also when the check took too long. */
  releaseAfterLlm?(context: LlmReleaseContext): void | Promise<void>;
  checkBeforeTool?(context: ToolBudgetContext): Answer | Promise<Answer>;
  /**
   * Whether tool calls of a session are to be asked about at the moment; they are when this is absent. It answers at
   * once: a check of tools has an answer be stored before its calls are, and one that is not asked costs nothing.
   */
  guardsTools?(subject: BudgetSubject): boolean;
  /** Called when a run of the session ends on this node, and when the session is let go here. */
  afterTurn?(subject: BudgetSubject): void | Promise<void>;
}
