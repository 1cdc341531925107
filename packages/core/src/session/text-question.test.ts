import type { Question } from '@perdure/events';
import { expect, test } from 'vitest';
import { answersProblem, checkQuestionSet } from './question-set.js';

type Text = Omit<Extract<Question, { kind: 'text' }>, 'kind' | 'id' | 'prompt'>;
const asked = (about: Text): Question => ({ kind: 'text', id: 'q', prompt: 'What?', ...about });
const problem = (about: Text, q: string): string | undefined => answersProblem([asked(about)], { q })?.reason;

test.each<[Text, readonly string[], readonly string[]]>([
  [{ format: 'integer', minimum: 1, maximum: 9 }, ['1', '9', '2e0'], ['0', '10', '1.5', 'one', '0x1', ' 1', '1e999']],
  [{ format: 'number', minimum: -0.5 }, ['-0.5', '3.25', '1e3'], ['-1', '', 'NaN', '1,5', '.5']],
  [{ format: 'email' }, ['ada@example.org'], ['ada', 'ada@', 'a b@example.org']],
  [{ format: 'uri' }, ['https://example.org/a?b'], ['example', '/a']],
  [{ format: 'date' }, ['2026-02-28'], ['2026-02-30', '28.2.2026', '2026-02-28T00:00:00Z']],
  [{ format: 'date-time' }, ['2026-02-28T12:00:00Z', '2026-02-28T12:00:00+02:00'], ['2026-02-28', 'noon']],
  [{ minLength: 2, maxLength: 3 }, ['ab', '😀😀😀'], ['a', 'abcd']],
])('a text that must be %j', (about, good, bad) => {
  expect(good.map((text) => problem(about, text))).toEqual(good.map(() => undefined));
  expect(bad.filter((text) => problem(about, text) === undefined)).toEqual([]);
});

test.each<[Text, string]>([
  [{ format: 'number', maxLength: 3 }, 'format'],
  [{ minimum: 1 }, 'format'],
  [{ minLength: 4, maxLength: 3 }, 'minLength'],
  [{ format: 'integer', minimum: 4, maximum: 3 }, 'minimum'],
])('a question that contradicts itself is refused by field: %j', (about, field) => {
  expect(() => checkQuestionSet({ questions: [asked(about)] })).toThrow(`not valid at "questions.0.${field}"`);
});
