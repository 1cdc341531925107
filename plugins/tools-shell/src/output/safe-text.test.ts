import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeText } from './safe-text.js';

test.each([
  ['plain text', 'a\tb\nc', 'a\tb\nc'],
  ['all of Unicode', 'ä € 😀 漢', 'ä € 😀 漢'],
  ['line ends of Windows', 'a\r\nb', 'a\nb'],
  ['a lonely return', 'a\rb', 'a\\x0db'],
  ['colours', '\u001b[31mred', '\\x1b[31mred'],
  ['a title for the terminal', '\u001b]0;x\u0007', '\\x1b]0;x\\x07'],
  ['NUL, DEL and C1', '\0\u007f\u009b', '\\x00\\x7f\\x9b'],
  ['writing that turns round', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ['a byte order mark', '\ufeffa', '\\ufeffa'],
  ['a replacement character of the program', '\ufffd', '\ufffd'],
])('%s', (_, given, text) => {
  expect(safeText(Buffer.from(given))).toBe(text);
});

test.each([
  [[0xff, 0x41], '\\xffA'],
  [[0xe2, 0x82], '\\xe2\\x82'],
  [[0xc0, 0xaf], '\\xc0\\xaf'],
  [[0xed, 0xa0, 0x80], '\\xed\\xa0\\x80'],
  [[0xf4, 0x90, 0x80, 0x80], '\\xf4\\x90\\x80\\x80'],
  [[0x41, 0x80, 0xc3, 0xa4], 'A\\x80ä'],
])('bytes %j that are no UTF-8', (bytes, text) => {
  expect(safeText(Buffer.from(bytes))).toBe(text);
});

test('whatever comes, no control character and no half of a pair is left', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = safeText(Buffer.from(bytes));
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      expect(Buffer.from(text).toString()).toBe(text);
    }),
  );
});
