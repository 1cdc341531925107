import { expect, test } from 'vitest';
import { answeredId, LineReader } from './line-reader.js';

const read = (reader: LineReader, ...chunks: readonly string[]) =>
  chunks.flatMap((chunk) => reader.push(Buffer.from(chunk)));

test('lines are whole however they are cut, and a character too', () => {
  const text = 'one\r\ntwö\n\nthree\n';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new LineReader(100);
    const lines: unknown[] = [];
    for (let at = 0; at < bytes.length; at += size) lines.push(...reader.push(bytes.subarray(at, at + size)));
    expect(lines).toEqual([{ text: 'one' }, { text: 'twö' }, { text: '' }, { text: 'three' }]);
  }
});

test('of a line that is too long the ends are kept, and the next is read', () => {
  const reader = new LineReader(2_000);
  const lines = read(reader, `{"id":7,"x":"${'a'.repeat(1_500)}`, 'b'.repeat(5_000), 'c"}\nnext\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({ head: expect.stringMatching(/^\{"id":7/), tail: expect.stringMatching(/bc"\}$/) });
  expect(lines[1]).toEqual({ text: 'next' });
});

test.each([
  ['{"jsonrpc":"2.0","id":5,"result":{"a":"', 5],
  ['{"id": 6, "result":', 6],
  ['{"result":{"id":9,', undefined],
])('the answered request is known from the head %s', (head, id) => {
  expect(answeredId({ head, tail: 'x"}}' })).toBe(id);
});

test('the answered request is known from the tail', () => {
  expect(answeredId({ head: '{"result":{', tail: 'xx"}]},"jsonrpc":"2.0","id":12}' })).toBe(12);
  expect(answeredId({ head: '{"result":{', tail: '"id":3}}' })).toBeUndefined();
});
