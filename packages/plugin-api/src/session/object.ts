import type { JsonValue, Usage } from '@perdure/events';

/** A text that a model is given. */
export interface ObjectMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What an object is made of: either a prompt or messages. */
export interface ObjectRequest {
  /** A Standard Schema that can tell its JSON Schema (zod and others), a JSON Schema, or one as `{ jsonSchema }`. */
  readonly schema: unknown;
  readonly prompt?: string;
  readonly messages?: readonly ObjectMessage[];
  /** What models are told that the object is; letters, digits, dashes and underscores. */
  readonly name?: string;
  /** The name of a model of the agent; the session's when absent. */
  readonly model?: string;
  /** How often a model is told what is wrong and asked again; 2 when absent, 10 at the most. */
  readonly maxRepairs?: number;
  /**
   * Told what there is of the object, every 100 ms at the most, where the agent streams. It is not checked, and begins
   * anew with every answer.
   */
  readonly onPartial?: (partial: JsonValue) => void;
  readonly signal?: AbortSignal;
}

export interface ObjectResult<Value = JsonValue> {
  readonly object: Value;
  /** The answer that it was read from, as the model wrote it. */
  readonly text: string;
  /** Of all answers together. */
  readonly usage: Usage;
  /** Answers that it took. */
  readonly attempts: number;
}
