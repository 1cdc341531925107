import { z } from 'zod';
import { defineEvent } from './define-event.js';
import type { JsonValue } from './json.js';
import { present } from './wire.js';

/** One of the answers that are offered. `value` is what comes back, `label` what people read. */
export const questionOption = z.strictObject({
  value: z.string(),
  label: z.string(),
  description: z.string().exactOptional(),
});
export type QuestionOption = z.output<typeof questionOption>;

const about = {
  /** Names the question in the answers; once in a set. */
  id: z.string(),
  prompt: z.string(),
  /** Whether it may be left without an answer. */
  isOptional: z.literal(true).exactOptional(),
};
const select = {
  ...about,
  options: z.array(questionOption),
  /** Whether a text that is not among the options is an answer too. */
  allowFreeText: z.literal(true).exactOptional(),
};

/** One question to a person: for a text, for one of several options, or for any number of them. */
export const question = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('text'),
    ...about,
    /** What the text must be. Numbers are written as in JSON, dates as in RFC 3339. */
    format: z.enum(['integer', 'number', 'email', 'uri', 'date', 'date-time']).exactOptional(),
    /** In characters. */
    minLength: z.int().nonnegative().exactOptional(),
    maxLength: z.int().positive().exactOptional(),
    /** Of a number. */
    minimum: z.number().exactOptional(),
    maximum: z.number().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('single-select'), ...select }),
  z.strictObject({
    kind: z.literal('multi-select'),
    ...select,
    min: z.int().nonnegative().exactOptional(),
    max: z.int().positive().exactOptional(),
  }),
]);
export type Question = z.output<typeof question>;

/** By the ids of the questions: a text, or for a multi-select a list of texts. */
export const answers = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
export type Answers = z.output<typeof answers>;

/** What happens when nobody has answered in time: the call fails, or these count as the answers. */
export const questionExpiry = z.union([z.literal('fail'), z.strictObject({ answers })]);
export type QuestionExpiry = z.output<typeof questionExpiry>;

/**
 * People are asked. A call that consists of it asks them behind its gates; a call that runs asks them by a part of
 * itself. The answer settles the call that asks, or the part; nothing of it is started.
 */
export const questionAsked = defineEvent({
  type: 'QuestionAsked',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    callId: z.string(),
    name: z.string(),
    /** For a part: the running call that asks, whose name and arguments these are. */
    origin: z.literal('nested').exactOptional(),
    parent: z.string().exactOptional(),
    argumentDigest: z.string(),
    title: z.string().exactOptional(),
    questions: z.array(question),
    /** Epoch milliseconds, and what happens then. */
    expiresAt: z.int().exactOptional(),
    onExpiry: questionExpiry.exactOptional(),
  }),
  wire: {
    type: 'user_question',
    payload: (fact) => {
      const questions = fact.questions.map(questionOnWire);
      const { callId, name, parent, argumentDigest, title, expiresAt } = fact;
      const about = { tool_id: callId, tool_name: name, parent_id: parent, argument_digest: argumentDigest };
      const set = { ...about, title, expires_at: expiresAt };
      // A set of one is also a question by itself, for readers that know no sets.
      return { ...set, questions, ...(questions.length === 1 ? questions[0] : {}) };
    },
  },
  isDetail: (fact) => fact.origin === undefined,
});

/**
 * The one answer to a set of questions: of a person, or its expiry. Without answers the person declined, or nobody gave
 * any in time.
 */
export const questionAnswered = defineEvent({
  type: 'QuestionAnswered',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    callId: z.string(),
    argumentDigest: z.string(),
    by: z.string(),
    answers: answers.exactOptional(),
    isExpiry: z.literal(true).exactOptional(),
  }),
  wire: {
    types: ['question_answered', 'question_timeout'],
    project: (fact) => {
      const given = fact.answers ?? null;
      if (fact.isExpiry === true) {
        const action = fact.answers === undefined ? 'failed' : 'answered';
        return [{ type: 'question_timeout', payload: { tool_id: fact.callId, action_taken: action, answers: given } }];
      }
      return [{ type: 'question_answered', payload: { tool_id: fact.callId, by: fact.by, answers: given } }];
    },
  },
});

/** Someone answered questions in a way that could not count. It changes nothing, and auditors see it. */
export const questionRefused = defineEvent({
  type: 'QuestionRefused',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ callId: z.string(), by: z.string(), code: z.string(), message: z.string() }),
  wire: {
    type: 'question_refused',
    payload: (fact) => ({ tool_id: fact.callId, by: fact.by, code: fact.code, message: fact.message }),
  },
});

function questionOnWire(asked: Question): Record<string, JsonValue> {
  const { kind, id, prompt, isOptional = false } = asked;
  const common = { question_id: id, question: prompt, kind, is_optional: isOptional };
  if (kind === 'text') {
    const { format, minLength, maxLength, minimum, maximum } = asked;
    const bounds = { format, min_length: minLength, max_length: maxLength, minimum, maximum };
    return present({ ...common, options: [], allow_free_text: true, ...bounds });
  }
  const options = asked.options.map(({ value, label, description }) => present({ value, label, description }));
  const { min, max } = kind === 'multi-select' ? asked : {};
  return present({ ...common, options, allow_free_text: asked.allowFreeText ?? false, min, max });
}
