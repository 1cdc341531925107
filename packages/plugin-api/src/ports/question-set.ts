import type { Question, QuestionExpiry } from '@perdure/events';

/**
 * Questions that are shown and answered together: 1 to 8 of them, a select with 1 to 32 options. Ids are a letter and
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
