import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFileFailure } from '../failure.js';
import { permissionSubject, workspacePath } from './workspace-path.js';

const bases = ['/project/space', '/link/space'];

function codeOf(given: string, windows = false): string {
  try {
    workspacePath(windows ? ['C:\\project\\space'] : bases, given, windows);
  } catch (error) {
    if (isFileFailure(error)) return error.code;
    throw error;
  }
  return 'taken';
}

describe('a path of a tool', () => {
  test.each([
    ['src/app.ts', 'src/app.ts'],
    ['./src//app.ts', 'src/app.ts'],
    ['src/lib/../app.ts', 'src/app.ts'],
    ['src/', 'src'],
    ['.', '.'],
    ['src/..', '.'],
    ['/project/space', '.'],
    ['/project/space/src/./app.ts', 'src/app.ts'],
    ['/project/../project/space/a', 'a'],
    ['/link/space/a', 'a'],
    ['...', '...'],
    ['~/a', '~/a'],
    ['a\\b', 'a\\b'],
    ['a\nb', 'a\nb'],
  ])('%j is %j', (given, relative) => {
    expect(workspacePath(bases, given).relative).toBe(relative);
    expect(permissionSubject(bases, given)).toBe(relative);
  });

  test.each([
    ['', 'invalid_path'],
    ['a\0b', 'invalid_path'],
    ['a\ud800', 'invalid_path'],
    ['a'.repeat(5000), 'invalid_path'],
    ['..', 'sandbox_denied'],
    ['src/../..', 'sandbox_denied'],
    ['src/../../space/a', 'sandbox_denied'],
    ['/etc/passwd', 'sandbox_denied'],
    ['/project/space/../other', 'sandbox_denied'],
    ['/project/spaceship', 'sandbox_denied'],
    ['/', 'sandbox_denied'],
    ['//project/space/../../etc', 'sandbox_denied'],
  ])('%j is refused with %s', (given, code) => {
    expect(codeOf(given)).toBe(code);
  });

  test.each([
    ['src\\app.ts', 'taken'],
    ['c:\\PROJECT\\space\\a', 'taken'],
    ['C:/project/space/a', 'taken'],
    ['C:a', 'sandbox_denied'],
    ['D:\\a', 'sandbox_denied'],
    ['\\\\server\\share', 'sandbox_denied'],
    ['a\\..\\..\\b', 'sandbox_denied'],
    ['a.txt:stream', 'invalid_path'],
    ['a.txt.', 'invalid_path'],
    ['a.txt ', 'invalid_path'],
    ['sub/CON', 'invalid_path'],
    ['nul.txt', 'invalid_path'],
    ['console.txt', 'taken'],
  ])('on Windows %j is %s', (given, code) => {
    expect(codeOf(given, true)).toBe(code);
  });

  test('keeps what the model gave for messages', () => {
    expect(() => workspacePath(bases, '../secret')).toThrow('"../secret" is outside the workspace.');
  });
});

const piece = fc.constantFrom('..', '.', '', 'a', 'src', 'work', 'space', '/', '//', 'b.ts', '\0', '...', '\\', '🙂');

test('whatever the text, a path stays inside or is refused, and one that is normalised stays as it is [R27]', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom('', '/'), (pieces, start) => {
      const given = start + pieces.join('/');
      if (codeOf(given) !== 'taken') return;
      const { segments, relative } = workspacePath(bases, given);
      for (const segment of segments) {
        expect(['', '.', '..']).not.toContain(segment);
        expect(segment).not.toMatch(/[/\0]/);
      }
      expect(workspacePath(bases, relative)).toEqual({ given: relative, segments, relative });
      expect(workspacePath(bases, `/project/space/${relative}`).segments).toEqual(segments);
    }),
  );
});
