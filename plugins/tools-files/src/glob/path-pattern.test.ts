import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFileFailure } from '../failure.js';
import { pathMatcher } from './path-pattern.js';
import { globFilter, searchPattern } from './search-pattern.js';
import { newWork } from './work.js';

const matches = (pattern: string, path: string): boolean => searchPattern(pattern)(path.split('/'));

describe('a search pattern', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['*', '.hidden', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/lib/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', false],
    ['**', 'a/b', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a/x/bb', false],
    ['**/a/**/b', 'x/a/a/b', true],
    ['./src//a.ts', 'src/a.ts', true],
    ['?.ts', 'a.ts', true],
    ['?.ts', '🙂.ts', true],
    ['?.ts', 'ab.ts', false],
    ['a**b', 'axxb', true],
    ['a**b', 'ax/xb', false],
    ['[ab].ts', 'a.ts', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[[:digit:]]*', '1a', true],
    ['[[:alpha:]]', '1', false],
    ['[*]', '*', true],
    ['[*]', 'a', false],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['{a,b/{c,d}}/x', 'b/d/x', true],
    ['{a}', '{a}', true],
    ['{a', '{a', true],
    ['a{,b}', 'a', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b', 'ab/', false],
  ])('%s against %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test.each(['', '/etc/*', '!a', 'a\\b', '../*', 'a/../b', '{a,..}/b', '[a', '[[:nope:]]', 'a\0', 'x'.repeat(1001)])(
    '%j is not valid',
    (pattern) => {
      expect(codeOf(() => searchPattern(pattern))).toBe('invalid_pattern');
    },
  );

  test('cannot stand for too many others', () => {
    expect(codeOf(() => searchPattern('{a,b}'.repeat(7)))).toBe('invalid_pattern');
  });

  test('is given up when a path makes it take too many steps', () => {
    const name = 'a'.repeat(255);
    const path = Array.from({ length: 250 }, () => name);
    expect(codeOf(() => searchPattern('**/*a*a*a*b')(path))).toBe('decided');
    const alternatives = Array.from({ length: 60 }, (_, index) => `*aaaaaaaa${String.fromCharCode(98 + index)}`);
    expect(codeOf(() => searchPattern(`**/{${alternatives.join(',')}}?`)(path))).toBe('invalid_pattern');
  });
});

describe('globs of a text search', () => {
  test.each([
    [[], 'a/b.ts', true],
    [['*.ts'], 'a/b.ts', true],
    [['*.ts'], 'a/b.js', false],
    [['src/**'], 'src/a.js', true],
    [['src/*.ts'], 'x/src/a.ts', false],
    [['/a.ts'], 'a.ts', true],
    [['!*.ts'], 'a.ts', false],
    [['!*.ts'], 'a.js', true],
    [['!dist'], 'dist/x/a.js', false],
    [['*.ts', '!*.d.ts'], 'a.d.ts', false],
    [['*.ts', '!*.d.ts'], 'a.ts', true],
    [['!*.d.ts', '*.ts'], 'a.d.ts', true],
  ])('%j against %s: %s', (globs, path, expected) => {
    expect(globFilter(globs)(path.split('/'))).toBe(expected);
  });

  test('are refused like patterns', () => {
    expect(codeOf(() => globFilter(['*.ts', '../x']))).toBe('invalid_pattern');
    expect(codeOf(() => globFilter(['!']))).toBe('invalid_pattern');
  });
});

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isFileFailure(error)) return error.code;
    throw error;
  }
  return 'decided';
}

const patternSegment = fc.constantFrom('a', 'b', '*', '?', 'a*', '*b', '?b*', '**', 'a?*a');
const nameSegment = fc.constantFrom('a', 'b', 'ab', 'aab', 'bb', 'aba');

test('matching agrees with a regular expression', () => {
  const patterns = fc.array(patternSegment, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(patterns, fc.array(nameSegment, { minLength: 1, maxLength: 6 }), (pattern, path) => {
      const expected = new RegExp(`^${expression(pattern)}$`).test(`${path.join('/')}/`);
      expect(pathMatcher(pattern.join('/'))(path, newWork())).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

/** For a path with `/` after each segment. */
function expression(pattern: readonly string[]): string {
  return pattern
    .map((segment, index) => {
      if (segment === '**') return index === pattern.length - 1 ? '(?:[^/]+/)+' : '(?:[^/]+/)*';
      return `${segment.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`;
    })
    .join('');
}
