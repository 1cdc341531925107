import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from './cut-text.js';

const key = ['ghp', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabCD'].join('_');

test('a text is cut where no key is: it has all of one or nothing', () => {
  for (let before = 200; before < 320; before++) {
    for (const [left, right] of [
      [' ', ' more'],
      ['', ''],
      ['"', '"'],
      ['\n', '\n'],
      [' ', 'x'.repeat(2_000)],
    ]) {
      const text = `${'word '.repeat(80).slice(0, before)}${left}${key}${right} and so on`;
      const cut = cutText(text, 300);
      expect(text.startsWith(cut)).toBe(true);
      expect([before, cut.includes('ghp_')]).toEqual([before, cut.includes(key)]);
    }
  }
});

test('and not longer than it has to be', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3_000 }), fc.integer({ min: 1, max: 600 }), (text, length) => {
      const cut = cutText(text, length);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(length + 1_024);
      if (text.length <= length) expect(cut).toBe(text);
    }),
  );
  expect(cutText('one two three', 5)).toBe('one two');
  expect(cutText('one two three', 4)).toBe('one ');
});
