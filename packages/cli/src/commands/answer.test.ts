import type { Question } from '@perdure/events';
import { describe, expect, test } from 'vitest';
import { readAnswers, readResponse } from './answer.js';

const option = (value: string) => ({ value, label: value });
const questions: readonly Question[] = [
  { kind: 'text', id: 'why', prompt: 'Why?' },
  { kind: 'multi-select', id: 'many', prompt: 'Which?', options: ['a', 'b', 'c,d'].map(option) },
];

describe('answers on a command line', () => {
  test.each<[string, readonly string[], object]>([
    ['a text as it is', ['why=so, a=b'], { why: 'so, a=b' }],
    ['an empty text', ['why='], { why: '' }],
    ['several choices, one by one', ['many=a', 'many=b'], { many: ['a', 'b'] }],
    ['several choices with commas', ['many=a, b'], { many: ['a', 'b'] }],
    ['an option that has a comma itself', ['many=a', 'many=c,d'], { many: ['a', 'c,d'] }],
    ['no choice', ['many='], { many: [] }],
    ['a question that is not known, for the session to refuse', ['who=me'], { who: 'me' }],
  ])('are read: %s', (_, given, answers) => {
    expect(readAnswers(given, questions)).toEqual(answers);
  });

  test.each<[string, readonly string[], string]>([
    ['without a question', ['=x'], '=x'],
    ['without an answer', ['why'], 'why'],
    ['twice for one', ['why=x', 'why=y'], 'why'],
  ])('are refused: %s', (_, given, named) => {
    expect(readAnswers(given, questions)).toContain(`"${named}"`);
  });

  test('are declined, and not at the same time given', () => {
    expect(readResponse({ answer: [], decline: true }, questions)).toEqual({ decline: true });
    expect(readResponse({ answer: ['why=x'], decline: true }, questions)).toContain('--decline');
    expect(readResponse({ answer: ['why=x'] }, questions)).toEqual({ answers: { why: 'x' } });
  });
});
