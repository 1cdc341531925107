import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedOutput } from './bounded-output.js';

function excerptOf(bytes: number, chunks: readonly Uint8Array[]) {
  const output = new BoundedOutput(bytes);
  for (const chunk of chunks) output.add(chunk);
  return output.excerpt();
}

test('an output that fits is kept whole', () => {
  const { head, tail, droppedBytes } = excerptOf(8, [Buffer.from('abc'), Buffer.from('defgh')]);
  expect(Buffer.concat([head, tail]).toString()).toBe('abcdefgh');
  expect(droppedBytes).toBe(0);
});

test('of a longer one the head and the tail are kept, and the rest is counted', () => {
  const { head, tail, droppedBytes } = excerptOf(8, [Buffer.from('abcdefghij'), Buffer.from('k')]);
  expect([head.toString(), tail.toString(), droppedBytes]).toEqual(['abcd', 'hijk', 3]);
});

test('any chunks give what the whole gives', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), chunks, (bytes, given) => {
      const whole = Buffer.concat(given);
      const { head, tail, droppedBytes } = excerptOf(bytes, given);
      const headSize = Math.min(whole.length, Math.ceil(bytes / 2));
      const tailSize = Math.min(whole.length - headSize, Math.floor(bytes / 2));
      expect(head.equals(whole.subarray(0, headSize))).toBe(true);
      expect(tail.equals(whole.subarray(whole.length - tailSize))).toBe(true);
      expect(head.length + tail.length + droppedBytes).toBe(whole.length);
    }),
  );
});
