import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText, encodeText, hasLoneSurrogate, readableBytes, type Encoding } from './encoding.js';

const encodings = fc.constantFrom<Encoding>('utf-8', 'utf-16le', 'utf-16be');
const text = fc.string({ unit: 'grapheme' }).filter((value) => !/[\0\ufeff]/.test(value));

test('a text comes back from its bytes, and the bytes from the text', () => {
  fc.assert(
    fc.property(encodings, fc.boolean(), text, (encoding, mark, value) => {
      const bom = mark || encoding !== 'utf-8';
      const bytes = encodeText({ encoding, bom, text: value });
      expect(decodeText(bytes)).toEqual({ encoding, bom, text: value });
      expect(readableBytes(bytes).toString('utf8')).toBe(value);
    }),
  );
});

describe('bytes that are not text', () => {
  test.each([
    ['a NUL', Buffer.from('a\0b'), 'binary'],
    ['Latin-1', Buffer.from([0x61, 0xe9, 0x62]), 'invalid'],
    ['half of a pair in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8]), 'invalid'],
    ['an odd number of bytes in UTF-16', Buffer.from([0xff, 0xfe, 0x61]), 'invalid'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'binary'],
    ['UTF-16 without a mark', Buffer.from('ab', 'utf16le'), 'binary'],
  ])('%s', (_, bytes, reason) => {
    expect(decodeText(bytes)).toBe(reason);
  });

  test('half of a surrogate pair is seen', () => {
    expect(hasLoneSurrogate('a🙂b')).toBe(false);
    expect(hasLoneSurrogate('a\udc00b')).toBe(true);
  });
});
