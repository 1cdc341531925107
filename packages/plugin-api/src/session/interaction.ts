import type { Answers, EffectContract, JsonValue, Question } from '@perdure/events';

/** What waits for a person's answer. */
export type Interaction = ApprovalInteraction | QuestionInteraction;

interface InteractionOfCall {
  readonly id: string;
  /** The session below this one that asks; absent when this one does. */
  readonly childId?: string;
  /** `null` for a call of the host. */
  readonly turnId: string | null;
  readonly tool: string;
  /** The final arguments, with references in the place of secrets, and their digest. */
  readonly input: JsonValue;
  readonly argumentDigest: string;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  readonly expiresAt: number | null;
}

/** Whether a call may run. */
export interface ApprovalInteraction extends InteractionOfCall {
  readonly kind: 'approval';
  readonly effect: EffectContract;
  readonly reason: string | null;
  /** A rule that would allow the call. */
  readonly suggestion: string | null;
}

/**
 * Questions of a call that consists of asking them, or of one that runs and cannot go on without an answer: the
 * arguments are those of that call then, and the id is that of the question.
 */
export interface QuestionInteraction extends InteractionOfCall {
  readonly kind: 'question';
  readonly title: string | null;
  readonly questions: readonly Question[];
}

/** The answer to an interaction. The first one counts. */
export type InteractionResponse = ApprovalResponse | QuestionResponse | DeclineResponse;

interface ResponseOfPerson {
  readonly id: string;
  /** Who answers, in the host's words. */
  readonly by: string;
  /** The digest of the arguments that were seen. Given, it must be that of the request. */
  readonly argumentDigest?: string;
}

export interface ApprovalResponse extends ResponseOfPerson {
  readonly decision: 'allow' | 'deny';
  /** Told to the model with a denial. */
  readonly reason?: string;
}

export interface QuestionResponse extends ResponseOfPerson {
  /**
   * By the ids of the questions: a text, the value of an option, or for a multi-select a list of them. Questions that
   * are optional may be left out. At most 32,768 characters of JSON.
   */
  readonly answers: Answers;
}

/** Questions that somebody does not want to answer. Who asked is told so. */
export interface DeclineResponse extends ResponseOfPerson {
  readonly decline: true;
}
