import type { Question } from '@perdure/events';
import { describe, expect, test } from 'vitest';
import { answersProblem, checkQuestionSet } from './question-set.js';

const options = ['a', 'b', 'c'].map((value) => ({ value, label: value.toUpperCase() }));
const text: Question = { kind: 'text', id: 'why', prompt: 'Why?' };
const one: Question = { kind: 'single-select', id: 'one', prompt: 'Which?', options };
const many: Question = { kind: 'multi-select', id: 'many', prompt: 'Which?', options, min: 1, max: 2 };
const optional = <Asked extends Question>(asked: Asked): Asked => ({ ...asked, isOptional: true });
const free = <Asked extends Question>(asked: Asked): Asked => ({ ...asked, allowFreeText: true });

describe('answers', () => {
  test.each<[string, readonly Question[], object]>([
    ['a text', [text], { why: 'because' }],
    ['an option', [one], { one: 'b' }],
    ['a text of its own', [free(one)], { one: 'neither' }],
    ['several options', [many], { many: ['c', 'a'] }],
    ['a text among options', [free(many)], { many: ['a', 'mine'] }],
    ['nothing chosen where it may be left out', [optional({ ...many, min: 0 })], { many: [] }],
    ['nothing to what may be left out', [optional(text), optional(one), optional(many)], {}],
    ['all kinds', [text, one, many], { why: 'x', one: 'a', many: ['b'] }],
    ['a question with a name that objects have', [{ ...text, id: 'constructor' }], { constructor: 'x' }],
    ['as much as there is room for', [text], { why: 'x'.repeat(32_000) }],
  ])('fit: %s', (_, questions, answers) => {
    expect(answersProblem(questions, answers)).toBeUndefined();
  });

  test.each<[string, readonly Question[], unknown, string, string]>([
    ['no object', [text], null, 'answers', 'object'],
    ['a list', [text], ['because'], 'answers', 'object'],
    ['an unknown question', [text], { why: 'x', who: 'y' }, 'answers.who', 'no such question'],
    ['an inherited name', [text], { why: 'x', toString: 'y' }, 'answers.toString', 'no such question'],
    ['a missing answer', [text, one], { why: 'x' }, 'answers.one', 'must be answered'],
    [
      'a missing answer with an inherited name',
      [{ ...text, id: 'valueOf' }],
      {},
      'answers.valueOf',
      'must be answered',
    ],
    ['an empty text', [text], { why: '' }, 'answers.why', 'empty'],
    ['a list for a text', [text], { why: ['x'] }, 'answers.why', 'a text'],
    ['a list for one option', [one], { one: ['a'] }, 'answers.one', 'a text'],
    ['a number', [one], { one: 1 }, 'answers.one', 'a text'],
    ['an option that is not offered', [one], { one: 'z' }, 'answers.one', 'none of the options'],
    ['a label in the place of a value', [one], { one: 'A' }, 'answers.one', 'none of the options'],
    ['an empty text of its own', [free(one)], { one: '' }, 'answers.one', 'empty'],
    ['a text for a list', [many], { many: 'a' }, 'answers.many', 'a list'],
    ['numbers', [many], { many: [1] }, 'answers.many', 'a list'],
    ['one that is not offered among others', [many], { many: ['a', 'z'] }, 'answers.many', 'none of the options'],
    ['too many', [many], { many: ['a', 'b', 'c'] }, 'answers.many', 'at most 2'],
    ['too few', [many], { many: [] }, 'answers.many', 'at least 1'],
    [
      'nothing where something is needed',
      [{ kind: 'multi-select', id: 'many', prompt: '?', options }],
      { many: [] },
      'answers.many',
      'at least 1',
    ],
    ['one twice', [many], { many: ['a', 'a'] }, 'answers.many', 'twice'],
    ['an empty one', [free(many)], { many: [''] }, 'answers.many', 'empty'],
    ['more than there is room for', [text], { why: 'x'.repeat(33_000) }, 'answers', '32768'],
  ])('do not fit: %s', (_, questions, answers, field, reason) => {
    const problem = answersProblem(questions, answers);
    expect(problem?.field).toBe(field);
    expect(problem?.reason).toContain(reason);
  });
});

describe('a set of questions', () => {
  const set = (...questions: readonly object[]) => ({ questions });
  test.each<[string, unknown, string]>([
    ['that is none', null, ''],
    ['without questions', set(), 'questions'],
    ['with too many', set(...Array.from({ length: 33 }, (_, n) => ({ ...text, id: `q${n}` }))), 'questions'],
    ['with a kind that is none', set({ ...text, kind: 'number' }), 'questions.0.kind'],
    ['with another member', set({ ...text, color: 'red' }), 'questions.0'],
    ['with an id that is none', set({ ...text, id: '__proto__' }), 'questions.0.id'],
    ['with an id twice', set(text, text), 'questions.1.id'],
    ['with an empty prompt', set({ ...text, prompt: ' ' }), 'questions.0.prompt'],
    ['without options', set({ ...one, options: [] }), 'questions.0.options'],
    [
      'with too many options',
      set({ ...one, options: Array.from({ length: 33 }, (_, n) => ({ value: `${n}`, label: 'x' })) }),
      'questions.0.options',
    ],
    [
      'with an option twice',
      set({ ...one, options: [...options, { value: 'a', label: 'again' }] }),
      'questions.0.options.3.value',
    ],
    [
      'with an option without a value',
      set({ ...one, options: [{ value: '', label: 'x' }] }),
      'questions.0.options.0.value',
    ],
    ['with min above max', set({ ...many, min: 3 }), 'questions.0.min'],
    ['with min above its options', set({ ...many, min: 4, max: 5 }), 'questions.0.min'],
    ['that expires at once', { ...set(text), expiresInMs: 0 }, 'expiresInMs'],
    [
      'with default answers that do not fit',
      { ...set(one), onExpiry: { answers: { one: 'z' } } },
      'onExpiry.answers.one',
    ],
    [
      'with default answers that lack one',
      { ...set(text, one), onExpiry: { answers: { one: 'a' } } },
      'onExpiry.answers.why',
    ],
    ['that is too large', set({ ...text, prompt: 'x'.repeat(40_000) }), 'questions'],
  ])('%s is refused by field', (_, given, field) => {
    expect(() => checkQuestionSet(given)).toThrow(`not valid at "${field}"`);
  });

  test('that is valid is taken as it is', () => {
    const given = { title: 'T', ...set(text, free(one), many), expiresInMs: 5, onExpiry: 'fail' };
    expect(checkQuestionSet(given)).toEqual(given);
  });
});
