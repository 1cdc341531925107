import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanLines, takeLines } from './line-window.js';

const limits = { lines: 2, bytes: 1000, lineCharacters: 10 };

test('lines are counted and found as by splitting', async () => {
  const pieces = fc.array(fc.constantFrom('a', 'é', '\n', '\r\n', '\r'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat(12), fc.integer({ min: 1, max: 9 }), async (parts, offset, lines) => {
      const text = parts.join('');
      const expected = text.split('\n');
      if (expected.at(-1) === '') expected.pop();
      const bytes = Buffer.from(text);
      const scan = await scanLines(bytes, offset);
      expect(scan.totalLines).toBe(expected.length);
      const window = takeLines(bytes, scan.start, { ...limits, lines, lineCharacters: 100 });
      const shown = expected.slice(offset, offset + lines).map((line) => line.replace(/\r$/, ''));
      expect(window).toEqual({
        content: shown.join('\n'),
        lines: shown.length,
        cutLines: 0,
        complete: offset + lines >= expected.length,
      });
    }),
  );
});

describe('line ends', () => {
  test.each([
    ['a', 'none'],
    ['a\nb', 'lf'],
    ['a\r\nb\r\n', 'crlf'],
    ['a\r\nb\n', 'mixed'],
  ])('of %j are %s', async (text, lineEnding) => {
    expect((await scanLines(Buffer.from(text), 0)).lineEnding).toBe(lineEnding);
  });
});

describe('limits', () => {
  test('a long line is cut at a whole character and says how long it is', () => {
    const line = `${'x'.repeat(9)}🙂${'y'.repeat(50)}`;
    const { content, cutLines } = takeLines(Buffer.from(`${line}\nshort`), 0, limits);
    expect(content).toBe(`${'x'.repeat(9)}…[line cut, 63 bytes]\nshort`);
    expect(cutLines).toBe(1);
  });

  test('a window ends before the line that would be too much, and has one line at least', () => {
    const bytes = Buffer.from('aaaa\nbbbb\ncccc\n');
    expect(takeLines(bytes, 0, { ...limits, bytes: 9, lines: 9 })).toMatchObject({ content: 'aaaa', complete: false });
    expect(takeLines(bytes, 0, { ...limits, bytes: 10, lines: 9 })).toMatchObject({ content: 'aaaa\nbbbb' });
    expect(takeLines(bytes, 0, { ...limits, bytes: 1, lines: 9 })).toMatchObject({ content: 'aaaa', lines: 1 });
  });
});
