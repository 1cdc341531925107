import type { Question } from '@perdure/events';
import type { Tool } from '@perdure/plugin-api';
import { z } from 'zod';

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const option = z.strictObject({
  value: z.string().min(1).max(200).describe('what you get back when it is chosen'),
  label: z.string().min(1).max(200).optional().describe('what the person reads; the value when absent'),
  description: z.string().min(1).max(500).optional(),
});

const asked = z
  .strictObject({
    id: z.string().regex(ID).describe('a short name; the answer comes back under it'),
    question: z.string().trim().min(1).max(2_000),
    kind: z
      .enum(['text', 'single_select', 'multi_select'])
      .describe('text: words; single_select: one of the options; multi_select: any number of them'),
    options: z.array(option).min(1).max(32).optional().describe('for the two selects'),
    allow_free_text: z
      .boolean()
      .optional()
      .describe('whether the person may also write another answer than the options'),
    min: z.int().nonnegative().optional().describe('multi_select: at least so many'),
    max: z.int().positive().optional().describe('multi_select: at most so many'),
    required: z.boolean().optional().describe('false when it may be left without an answer; true when absent'),
  })
  .superRefine(({ kind, options = [], min, max, allow_free_text: isFree }, context) => {
    const refuse = (field: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [field], message });
    };
    if (kind === 'text' && options.length > 0) refuse('options', 'a text has no options');
    if (kind !== 'text' && options.length === 0) refuse('options', 'a select needs options');
    if (kind !== 'multi_select' && min !== undefined) refuse('min', 'only a multi_select has it');
    if (kind !== 'multi_select' && max !== undefined) refuse('max', 'only a multi_select has it');
    if (min !== undefined && min > (max ?? min)) refuse('min', 'it is more than max');
    if (min !== undefined && min > options.length && isFree !== true) refuse('min', 'there are not so many options');
    if (new Set(options.map(({ value }) => value)).size < options.length) refuse('options', 'a value is there twice');
  });

const inputSchema = z.strictObject({
  title: z.string().trim().min(1).max(200).optional().describe('what it is about, in a few words'),
  questions: z
    .array(asked)
    .min(1)
    .max(8)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'an id is there twice'),
});
type Input = z.output<typeof inputSchema>;

const DESCRIPTION = [
  'Ask the person you work for, and wait for the answers. Use it when you cannot go on without a decision or a fact',
  'that only they have; ask everything you need at once. You get { "answers": { <id>: <answer> } }: a text, the value',
  'of an option, or for multi_select a list of values.',
].join(' ');

/** A tool by which a model asks people. Its questions fail after `expiresInMs` when nobody answers. */
export function askUserTool(expiresInMs: number | undefined): Tool {
  return {
    description: DESCRIPTION,
    inputSchema,
    effect: 'read',
    permissionSubjects: ({ questions }: Input) => questions.map(({ question }) => question),
    questions: ({ title, questions }: Input) => ({
      ...(title === undefined ? {} : { title }),
      questions: questions.map(questionOf),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    }),
  } satisfies Tool;
}

function questionOf({ id, question: prompt, kind, options = [], ...more }: Input['questions'][number]): Question {
  const about = { id, prompt, ...(more.required === false ? { isOptional: true as const } : {}) };
  if (kind === 'text') return { kind, ...about };
  const select = {
    ...about,
    options: options.map(({ value, label = value, description }) => ({
      value,
      label,
      ...(description === undefined ? {} : { description }),
    })),
    ...(more.allow_free_text === true ? { allowFreeText: true as const } : {}),
  };
  if (kind === 'single_select') return { kind: 'single-select', ...select };
  const { min, max } = more;
  return {
    kind: 'multi-select',
    ...select,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}
