import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { answerPart, usage, type AnswerPart, type ToolCallPart } from './parts.js';
import { failure } from './run.js';
import { type WireEvent } from './wire.js';

/** What a model call is for. */
export const modelPurpose = z.enum(['step', 'compaction', 'title', 'object', 'host']);
export type ModelPurpose = z.output<typeof modelPurpose>;

const call = {
  purpose: modelPurpose,
  stepId: z.string().exactOptional(),
  /** 1 for the first try of this call. */
  attempt: z.int().positive(),
  model: z.string(),
  provider: z.string(),
  modelId: z.string(),
  startedAt: z.int(),
  endedAt: z.int(),
};

export const finishReason = z.strictObject({
  unified: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']),
  raw: z.string().exactOptional(),
});
export type FinishReason = z.output<typeof finishReason>;

/** The model answered. Its calls are in `parts`, in the model's order. */
export const modelAnswered = defineEvent({
  type: 'ModelAnswered',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    ...call,
    messageId: z.string(),
    parts: z.array(answerPart),
    usage,
    finish: finishReason,
    firstDeltaAt: z.int().exactOptional(),
    responseId: z.string().exactOptional(),
    warnings: z.array(z.string()).exactOptional(),
  }),
  wire: {
    types: ['text_delta', 'reasoning_delta', 'tool_start', 'tool_input_delta', 'answer_file', 'model_answered'],
    project: (fact) =>
      fact.purpose === 'step'
        ? answerOnWire(fact.parts)
        : [{ type: 'model_answered', payload: { purpose: fact.purpose, message_id: fact.messageId } }],
  },
});

/** One try of a model call failed. When `retryable`, another follows unless the limit of attempts is reached. */
export const modelCallFailed = defineEvent({
  type: 'ModelCallFailed',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    ...call,
    failure,
    /** HTTP status, when there was a response. */
    status: z.int().exactOptional(),
    retryable: z.boolean(),
    retryAfterMs: z.int().nonnegative().exactOptional(),
  }),
  wire: {
    type: 'model_call_failed',
    payload: (fact) => ({
      attempt: fact.attempt,
      message: fact.failure.message,
      code: fact.failure.code,
      status: fact.status,
      retryable: fact.retryable,
      retry_after_ms: fact.retryAfterMs,
    }),
  },
});

/** A budget kept a model call from being made. Nothing was sent, and nothing of the conversation has changed. */
export const modelCallDenied = defineEvent({
  type: 'ModelCallDenied',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    purpose: modelPurpose,
    stepId: z.string().exactOptional(),
    attempt: z.int().positive(),
    model: z.string(),
    provider: z.string(),
    modelId: z.string(),
    resource: z.string(),
    failure,
  }),
  wire: {
    type: 'model_call_denied',
    payload: (fact) => ({
      purpose: fact.purpose,
      attempt: fact.attempt,
      resource: fact.resource,
      message: fact.failure.message,
      code: fact.failure.code,
    }),
  },
});

/** An answer ended before it was whole; `parts` is what was seen of it. Calls in it are never made. */
export const answerInterrupted = defineEvent({
  type: 'AnswerInterrupted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    stepId: z.string(),
    attempt: z.int().positive(),
    messageId: z.string(),
    reason: z.enum(['stopped', 'failed', 'crashed', 'handed-over']),
    parts: z.array(answerPart),
  }),
  wire: {
    type: 'answer_interrupted',
    payload: (fact) => ({
      message_id: fact.messageId,
      step_id: fact.stepId,
      reason: fact.reason,
      text: answerText(fact.parts),
    }),
  },
});

/** The text parts of an answer, joined as the model gave them. */
export function answerText(parts: readonly AnswerPart[]): string {
  let text = '';
  for (const part of parts) if (part.type === 'text') text += part.text;
  return text;
}

/**
 * The wire events of an answer, beginning at a part and a place in it: what a reader still has to see. The place counts
 * characters of a text; of a call it is 1 after its start and 2 after its arguments, of a file 1.
 */
export function answerOnWire(parts: readonly AnswerPart[], from = { part: 0, offset: 0 }): readonly WireEvent[] {
  return parts.flatMap((part, index) =>
    index < from.part ? [] : partOnWire(part, index === from.part ? from.offset : 0),
  );
}

/** The wire events of one part from a place on. */
export function partOnWire(part: AnswerPart, offset: number): readonly WireEvent[] {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = part.text.slice(offset);
      return text === '' ? [] : [{ type: `${part.type}_delta`, payload: { text } }];
    }
    case 'tool-call':
      return [
        { type: 'tool_start', payload: { id: part.callId, name: part.name } },
        { type: 'tool_input_delta', payload: { id: part.callId, delta: argumentText(part) } },
      ].slice(offset);
    case 'file':
      return offset === 0 ? [{ type: 'answer_file', payload: { media_type: part.mediaType } }] : [];
  }
}

/** The place in a part at which nothing of it is left. */
export function partLength(part: AnswerPart): number {
  if (part.type === 'text' || part.type === 'reasoning') return part.text.length;
  return part.type === 'tool-call' ? 2 : 1;
}

/** The arguments of a call as text: as the provider gave them when they were no JSON, else the JSON. */
export function argumentText(part: ToolCallPart): string {
  return part.invalidInput ?? JSON.stringify(part.input ?? {});
}
