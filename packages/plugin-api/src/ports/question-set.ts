import type { Answers, Question, QuestionExpiry } from '@perdure/events';

/**
 * Questions that are shown and answered together: 1 to 32 of them, a select with 1 to 32 options. Ids are a letter and
 * up to 63 more letters, digits, "_" and "-"; all of it together is at most 32,768 characters of JSON.
 */
export interface QuestionSet {
  readonly title?: string;
  readonly questions: readonly Question[];
  /** Milliseconds until `onExpiry`; never when absent. */
  readonly expiresInMs?: number;
  /** `fail` when absent: the call fails with PERDURE_TOOL_UNANSWERED. Else these answers, which must fit. */
  readonly onExpiry?: QuestionExpiry;
}

/**
 * What came of questions that a running call asked: answers that fit, with `isDefault` where they are those of the
 * expiry; a person who did not want to answer; no answer in time; or nobody whom the session could ask, and why.
 */
export type AskOutcome =
  | { readonly status: 'answered'; readonly answers: Answers; readonly by: string; readonly isDefault?: true }
  | { readonly status: 'declined'; readonly by: string }
  | { readonly status: 'unanswered' }
  | { readonly status: 'nobody'; readonly reason: string };

export interface AskOptions {
  /** Takes the questions back: nobody is asked any more, and asking rejects with PERDURE_TOOL_CALL_OVER. */
  readonly signal?: AbortSignal;
}
