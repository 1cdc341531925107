import type { Question } from '@perdure/events';
import { z } from 'zod';

/** What is wrong, and where. */
export interface Problem {
  readonly field: string;
  readonly reason: string;
}

type TextQuestion = Extract<Question, { kind: 'text' }>;

const JSON_NUMBER = /^-?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?(?:[eE][+-]?\d{1,3})?$/;

const formats = {
  email: { schema: z.email(), reason: 'it is no e-mail address' },
  uri: { schema: z.url(), reason: 'it is no URI' },
  date: { schema: z.iso.date(), reason: 'it is no date, such as 2026-01-31' },
  'date-time': { schema: z.iso.datetime({ offset: true }), reason: 'it is no time, such as 2026-01-31T12:00:00Z' },
} as const;

/** What is wrong with what a text may be. */
export function boundsProblem({ format, minLength, maxLength, minimum, maximum }: TextQuestion): Problem | undefined {
  const isNumber = format === 'integer' || format === 'number';
  if (isNumber && (minLength ?? maxLength) !== undefined) return { field: 'format', reason: 'a number has no length' };
  if (!isNumber && (minimum ?? maximum) !== undefined) return { field: 'format', reason: 'only a number has bounds' };
  if ((minLength ?? 0) > (maxLength ?? Number.POSITIVE_INFINITY)) {
    return { field: 'minLength', reason: 'it is more than maxLength' };
  }
  if ((minimum ?? Number.NEGATIVE_INFINITY) > (maximum ?? Number.POSITIVE_INFINITY)) {
    return { field: 'minimum', reason: 'it is more than maximum' };
  }
  return undefined;
}

/** Why a text is no answer to a question for one. */
export function textProblem(asked: TextQuestion, answer: string): string | undefined {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = asked;
  if (format === 'integer' || format === 'number') return numberProblem(asked, answer);
  const length = [...answer].length;
  if (length < minLength) return `it has less than ${minLength} characters`;
  if (length > maxLength) return `it has more than ${maxLength} characters`;
  if (format === undefined || formats[format].schema.safeParse(answer).success) return undefined;
  return formats[format].reason;
}

function numberProblem({ format, minimum, maximum }: TextQuestion, answer: string): string | undefined {
  const value = JSON_NUMBER.test(answer) ? Number(answer) : Number.NaN;
  if (!Number.isFinite(value)) return 'it is no number';
  if (format === 'integer' && !Number.isSafeInteger(value)) return 'it is no whole number';
  if (minimum !== undefined && value < minimum) return `it is less than ${minimum}`;
  if (maximum !== undefined && value > maximum) return `it is more than ${maximum}`;
  return undefined;
}
