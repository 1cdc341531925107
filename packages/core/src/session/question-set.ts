import { question, questionExpiry, type Answers, type Question } from '@perdure/events';
import type { QuestionSet } from '@perdure/plugin-api';
import { z } from 'zod';
import { boundsProblem, textProblem, type Problem } from './text-question.js';

/** Characters of JSON that a set of questions may have, and that answers to it may have. */
const LARGEST = 32_768;
const LONGEST_MS = 365 * 24 * 60 * 60 * 1_000;
const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const shape = z.strictObject({
  title: z.string().min(1).exactOptional(),
  questions: z.array(question).min(1).max(32),
  expiresInMs: z.int().positive().max(LONGEST_MS).exactOptional(),
  onExpiry: questionExpiry.exactOptional(),
});

/** Checks what a tool wants to ask. Throws a TypeError that names the field. */
export function checkQuestionSet(given: unknown): QuestionSet {
  const parsed = shape.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid({ field: issue?.path.join('.') ?? '', reason: issue?.message ?? 'not valid' });
  }
  const { questions, onExpiry } = parsed.data;
  const ids = questions.map(({ id }) => id);
  for (const [index, each] of questions.entries()) {
    const field = `questions.${index}`;
    if (!ID.test(each.id)) throw invalid({ field: `${field}.id`, reason: 'it is no id' });
    if (ids.indexOf(each.id) !== index) throw invalid({ field: `${field}.id`, reason: 'another question has it' });
    if (each.prompt.trim() === '') throw invalid({ field: `${field}.prompt`, reason: 'it is empty' });
    const problem = optionsProblem(each);
    if (problem !== undefined) throw invalid({ ...problem, field: `${field}.${problem.field}` });
  }
  if (onExpiry !== undefined && onExpiry !== 'fail') {
    const problem = answersProblem(questions, onExpiry.answers);
    if (problem !== undefined) throw invalid({ ...problem, field: `onExpiry.${problem.field}` });
  }
  if (JSON.stringify(parsed.data).length > LARGEST) {
    throw invalid({ field: 'questions', reason: `they have more than ${LARGEST} characters` });
  }
  return parsed.data;
}

function optionsProblem(asked: Question): Problem | undefined {
  if (asked.kind === 'text') return boundsProblem(asked);
  const { options, allowFreeText } = asked;
  if (options.length < 1 || options.length > 32) return { field: 'options', reason: 'there are 1 to 32 of them' };
  const values = options.map(({ value }) => value);
  const at = values.findIndex((value, index) => value === '' || values.indexOf(value) !== index);
  if (at >= 0) return { field: `options.${at}.value`, reason: 'it is empty, or another option has it' };
  if (asked.kind === 'single-select') return undefined;
  const { min = 0, max = Number.POSITIVE_INFINITY } = asked;
  if (min > max) return { field: 'min', reason: 'it is more than max' };
  if (min > options.length && !allowFreeText) return { field: 'min', reason: 'there are not so many options' };
  return undefined;
}

/** What keeps answers from being those to these questions: the first problem, and the member that has it. */
export function answersProblem(questions: readonly Question[], given: unknown): Problem | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { field: 'answers', reason: 'they are an object, by the ids of the questions' };
  }
  const stranger = Object.keys(given).find((id) => !questions.some((asked) => asked.id === id));
  if (stranger !== undefined) return { field: `answers.${stranger}`, reason: 'there is no such question' };
  for (const asked of questions) {
    const answer: unknown = Object.hasOwn(given, asked.id) ? (given as Answers)[asked.id] : undefined;
    const reason = answer === undefined ? missing(asked) : wrong(asked, answer);
    if (reason !== undefined) return { field: `answers.${asked.id}`, reason };
  }
  if (JSON.stringify(given).length > LARGEST) {
    return { field: 'answers', reason: `they have more than ${LARGEST} characters` };
  }
  return undefined;
}

function missing({ isOptional }: Question): string | undefined {
  return isOptional ? undefined : 'the question must be answered';
}

function wrong(asked: Question, answer: unknown): string | undefined {
  if (asked.kind !== 'multi-select') {
    if (typeof answer !== 'string') return 'it is a text';
    if (answer === '') return 'it is empty';
    return asked.kind === 'text' ? textProblem(asked, answer) : notOffered(asked, answer);
  }
  if (!Array.isArray(answer) || !answer.every((each) => typeof each === 'string')) return 'it is a list of texts';
  const chosen: readonly string[] = answer;
  if (chosen.includes('')) return 'one of them is empty';
  if (new Set(chosen).size < chosen.length) return 'one of them is there twice';
  const { min = asked.isOptional ? 0 : 1, max = Number.POSITIVE_INFINITY } = asked;
  if (chosen.length < min) return `at least ${min} must be chosen`;
  if (chosen.length > max) return `at most ${max} may be chosen`;
  return chosen.map((each) => notOffered(asked, each)).find((reason) => reason !== undefined);
}

function notOffered(
  { options, allowFreeText }: Exclude<Question, { kind: 'text' }>,
  answer: string,
): string | undefined {
  if (allowFreeText || options.some(({ value }) => value === answer)) return undefined;
  return 'it is none of the options';
}

function invalid({ field, reason }: Problem): TypeError {
  return new TypeError(`its questions are not valid at "${field}": ${reason}`);
}
