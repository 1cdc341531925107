import { expect, test } from 'vitest';
import { isHostilePattern } from './hostile-pattern.js';

test.each([
  '^[a-z]+$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^(foo|bar)$',
  '^\\w+(\\.\\w)?$',
  '[+*(]+',
  '^(?:ab){2}$',
  '^a{1,50}$',
])('%s takes no time to speak of', (pattern) => {
  expect(isHostilePattern(pattern)).toBe(false);
});

test.each([
  '^(a+)+$',
  '(a*)*',
  '((a+)b)+',
  '(a|aa)+$',
  '^(\\w+\\s?)*$',
  '(a{1,9})*',
  '(.*)\\1',
  '(?<x>a)\\k<x>',
  'a*a*a*a*a*b',
  '([a-z]+){10}',
  '(',
  `a{${'9'.repeat(5)}}b{2000}c{2000}d{2000}e{2000}`,
])('%s is refused', (pattern) => {
  expect(isHostilePattern(pattern)).toBe(true);
});

test('one that is too long is refused', () => {
  expect(isHostilePattern('a'.repeat(600))).toBe(true);
});
