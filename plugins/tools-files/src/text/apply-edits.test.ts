import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFileFailure } from '../failure.js';
import { applyEdits, type Edit } from './apply-edits.js';
import { hasLoneSurrogate } from './encoding.js';
import { couldBeEdited, undoEdits } from './undo-edits.js';

function codeOf(text: string, edits: readonly Edit[]): string {
  try {
    applyEdits(text, edits);
  } catch (error) {
    if (isFileFailure(error)) return error.code;
    throw error;
  }
  return 'made';
}

const change = (old_text: string, new_text: string): Edit => ({ old_text, new_text });

describe('edits', () => {
  test('refer to the original, in any order', () => {
    expect(applyEdits('one two three', [change('three', 'one'), change('one', 'two')])).toBe('two two one');
  });

  test('may touch, but not overlap', () => {
    expect(applyEdits('abcd', [change('ab', '1'), change('cd', '2')])).toBe('12');
    expect(codeOf('abcd', [change('abc', '1'), change('cd', '2')])).toBe('overlapping_edits');
    expect(codeOf('abcd', [change('abcd', '1'), change('bc', '2')])).toBe('overlapping_edits');
    expect(codeOf('abcd', [change('ab', '1'), change('ab', '2')])).toBe('overlapping_edits');
  });

  test('name the edit that cannot be made', () => {
    expect(() => applyEdits('abc', [change('a', 'b'), change('x', 'y')])).toThrow('Edit 1 has an old_text that is not');
    expect(codeOf('abc', [change('x', 'y')])).toBe('not_found');
    expect(codeOf('abcabc', [change('abc', 'y')])).toBe('duplicate_match');
    expect(codeOf('aaa', [change('aa', 'y')])).toBe('duplicate_match');
    expect(codeOf('a', [change('a', '\ud800')])).toBe('encoding_error');
  });

  test.each([
    ['a\r\nb\r\n', change('a\nb', 'a\nx\nb'), 'a\r\nx\r\nb\r\n'],
    ['a\r\nb\r\n', change('a\r\nb', 'c'), 'c\r\n'],
    ['a\nb\n', change('a', '1\r\n2'), '1\n2\nb\n'],
    ['a\r\nb\nc\nd', change('a\nb', '1\n2\n3'), '1\r\n2\r\n3\nc\nd'],
    ['a\r\nb\nc\nd', change('b\nc', '1\n2'), 'a\r\n1\n2\nd'],
    ['a\r\nb\r\nc', change('c', '1\n2'), 'a\r\nb\r\n1\r\n2'],
    ['a\r\r\nb', change('\n', ''), 'a\rb'],
    ['\r\n', change('\n', '\n\n'), '\r\n\r\n'],
  ])('of %j keep its line ends', (text, edit, edited) => {
    expect(applyEdits(text, [edit])).toBe(edited);
  });

  test('take time in proportion to the text, whatever the text is', () => {
    const text = 'a'.repeat(2_000_000);
    const hostile = `${'a'.repeat(5000)}b${'a'.repeat(4999)}`;
    expect(codeOf(text, [change(hostile, '')])).toBe('not_found');
  });
});

const texts = fc.array(fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', '\r', 'é', '🙂', ' '), { maxLength: 40 });
const cut = fc.record({ start: fc.nat(40), length: fc.integer({ min: 1, max: 6 }), new_text: fc.string() });

test('edits cut out of a text do what their places say, or are refused for a reason that holds', () => {
  fc.assert(
    fc.property(texts, fc.array(cut, { minLength: 1, maxLength: 4 }), (pieces, cuts) => {
      // LF alone, so that the reference can be plain slices; line ends have their own table.
      const text = pieces.join('').replaceAll('\r', '');
      const places = cuts
        .map(({ start, length, new_text }) => ({ start, end: start + length, new_text: new_text.replaceAll('\r', '') }))
        .filter(({ end }) => end <= text.length)
        .toSorted((one, other) => one.start - other.start);
      fc.pre(places.length > 0);
      const edits = places.map(({ start, end, new_text }) => change(text.slice(start, end), new_text));
      fc.pre(!edits.some(({ old_text, new_text }) => hasLoneSurrogate(old_text) || hasLoneSurrogate(new_text)));
      const isUnique = edits.every(({ old_text }) => text.split(old_text).length === 2 && unique(text, old_text));
      const isApart = places.every(({ start }, index) => index === 0 || (places[index - 1]?.end ?? 0) <= start);
      if (isUnique && isApart) expect(applyEdits(text, edits)).toBe(spliced(text, places));
      else expect(codeOf(text, edits)).toBe(isUnique ? 'overlapping_edits' : 'duplicate_match');
    }),
  );
});

function unique(text: string, part: string): boolean {
  return text.indexOf(part) === text.lastIndexOf(part);
}

function spliced(
  text: string,
  places: readonly { readonly start: number; readonly end: number; readonly new_text: string }[],
): string {
  return places.reduceRight(
    (whole, { start, end, new_text }) => whole.slice(0, start) + new_text + whole.slice(end),
    text,
  );
}

describe('edits that were made', () => {
  test.each([
    ['x = 1', [change('1', '22')]],
    ['one two', [change('one', '1'), change('two', '2')]],
    ['a\r\nb\r\n', [change('a\nb', 'b\na')]],
    ['import a\n', [change('import a\n', 'import a\nimport b\n')]],
  ])('can be undone in %j', (text, edits) => {
    const edited = applyEdits(text, edits);
    expect(undoEdits(edited, edits)).toBe(text);
    expect(couldBeEdited(edited, edits)).toBe(true);
  });

  test('cannot be undone when they only deleted, or when the new text is there more than once', () => {
    expect(undoEdits('a', [change('b', '')])).toBeUndefined();
    expect(undoEdits('b b', [change('a', 'b')])).toBeUndefined();
  });

  test('leave their new texts', () => {
    expect(couldBeEdited('nothing', [change('a', 'b')])).toBe(false);
    expect(couldBeEdited('nothing', [change('a', '')])).toBe(true);
    expect(couldBeEdited('x\r\ny', [change('a', 'x\ny')])).toBe(true);
  });
});
