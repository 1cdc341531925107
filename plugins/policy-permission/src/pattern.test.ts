import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from './match-pattern.js';
import { formatPattern, literalPattern, parsePattern } from './pattern.js';

const matches = (pattern: string, text: string) => compilePattern(parsePattern(pattern))(text);

describe('a pattern', () => {
  test.each([
    ['src/app.ts', 'src/app.ts', true],
    ['src/app.ts', 'src/app.tsx', false],
    ['src/*', 'src/app.ts', true],
    ['src/*', 'src/.env', true],
    ['src/*', 'src/lib/app.ts', false],
    ['*', '.env', true],
    ['*', '', true],
    ['*', 'a/b', false],
    ['**', 'a/b/.c', true],
    ['**', '', true],
    ['src/**', 'src/lib/app.ts', true],
    ['src/**', 'src', true],
    ['src/**', 'src/', true],
    ['src/**', 'srcs/a', false],
    ['src/**', 'other/src/a', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/lib/a.ts', true],
    ['**/*.ts', 'a.tsx', false],
    ['**/secret/**', 'a/secret', true],
    ['**/secret/**', 'a/secret/b/c', true],
    ['**/secret/**', 'a/secrets/b', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a/xb', false],
    ['a/**/**', 'a/b', true],
    ['a/**/**', 'a/', true],
    ['**/**', 'a/b', true],
    ['a**b', 'a/x/b', true],
    ['a***b', 'a/x/b', true],
    ['?.ts', 'a.ts', true],
    ['?.ts', '🙂.ts', true],
    ['?.ts', '/.ts', false],
    ['?.ts', '.ts', false],
    ['git status:*', 'git status --short', true],
    ['git status:*', 'git status', true],
    ['git status:*', 'git statusx', true],
    ['git status:*', 'git stash', false],
    ['git * push:*', 'git push', false],
    ['git * push:*', 'git -C. push origin/main', true],
    [':*', 'anything/at all', true],
    ['a:*b', 'a:xb', true],
    ['a:\\*', 'a:*', true],
    ['a:\\*', 'a:b', false],
    ['a\\:*', 'a:b', true],
    ['a\\:*', 'ab', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a\\?', 'ab', false],
    ['a\\\\b', 'a\\b', true],
    ['[ab]{c,d}', '[ab]{c,d}', true],
    ['[ab]', 'a', false],
    ['a.b', 'axb', false],
    ['echo (x)', 'echo (x)', true],
    ['a*', 'a\nb', true],
    ['A', 'a', false],
  ])('%j against %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  test.each(['a\\', 'a\\b', 'a\\ '])('%j is not valid', (pattern) => {
    expect(() => parsePattern(pattern)).toThrow(SyntaxError);
  });

  test('with wildcards is not too long, and without them as long as it likes', () => {
    expect(() => parsePattern(`*${'a'.repeat(1000)}`)).toThrow(/500 characters/);
    expect(matches('a'.repeat(5000), 'a'.repeat(5000))).toBe(true);
    expect(matches(`${'a'.repeat(5000)}:*`, 'a'.repeat(5001))).toBe(true);
  });

  test('does not tell of very long texts what takes long to tell', () => {
    const long = 'a'.repeat(50_001);
    expect(matches('*b', long)).toBeUndefined();
    expect(matches('a:*', long)).toBe(true);
    expect(matches('**', long)).toBe(true);
    expect(matches('b', long)).toBe(false);
  });

  test.each([
    ['*a'.repeat(240), 'a', true],
    [`${'*a'.repeat(240)}b`, 'a', false],
    [`${'**/a/'.repeat(160)}b`, 'a/', false],
    [`${'**a'.repeat(240)}b`, 'a', false],
    [`*${'a'.repeat(490)}b`, 'a', false],
    [`*a${'?'.repeat(490)}b`, 'ab', true],
    [`*a${'?'.repeat(491)}b`, 'ab', false],
  ])('that is chosen to be slow takes time in proportion: %#', (pattern, piece, expected) => {
    // To try one way after the other would take longer than anyone could wait.
    expect(matches(pattern, piece.repeat(20_000 / piece.length))).toBe(expected);
  });
});

const token = fc.constantFrom(
  'a',
  'b',
  '/',
  '*',
  '**',
  '?',
  '/**',
  '**/',
  ':',
  ':*',
  '\\*',
  '\\\\',
  '\\:',
  '.',
  '(',
  '🙂',
);
const text = fc.array(fc.constantFrom('a', 'b', '/', ':', '*', '\\', '?', '.', '(', '🙂', '\n'), { maxLength: 10 });

test('a pattern and its normal form are read in the same way', () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
      const pieces = parsePattern(tokens.join(''));
      expect(parsePattern(formatPattern(pieces))).toEqual(pieces);
    }),
    { numRuns: 3000 },
  );
});

test('a literal pattern matches its text and no other', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const pattern = literalPattern(one.join(''));
      expect(matches(pattern, one.join(''))).toBe(true);
      expect(matches(pattern, other.join(''))).toBe(one.join('') === other.join(''));
    }),
  );
});

test('matching agrees with a regular expression', () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 6 }), text, (tokens, characters) => {
      const pattern = tokens.join('');
      const given = characters.join('');
      expect(matches(pattern, given), `${pattern} against ${given}`).toBe(expression(pattern).test(given));
    }),
    { numRuns: 5000 },
  );
});

/** The same meaning said in another way, for the short patterns of the test. */
function expression(pattern: string): RegExp {
  const source = pattern.replace(
    /\\(.)|:\*$|(?<=^|\/)(?:\*{2,}\/)+|\/\*{2,}$|\*{2,}|[^]/gu,
    (piece, escaped: string | undefined) => {
      if (escaped !== undefined) return literal(escaped);
      if (piece === ':*') return '[^]*';
      if (piece.endsWith('*/')) return '(?:[^]*/)?';
      if (/^\/\*{2,}$/.test(piece)) return '(?:/[^]*)?';
      if (/^\*{2,}$/.test(piece)) return '[^]*';
      if (piece === '*') return '[^/]*';
      return piece === '?' ? '[^/]' : literal(piece);
    },
  );
  return new RegExp(`^${source}$`, 'u');
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
