import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteCache } from './byte-cache.js';
import { knownBytes, readMediaType } from './media-type.js';

const hex = (digits: string): Buffer => Buffer.concat([Buffer.from(digits, 'hex'), Buffer.from([0, 255, 1])]);

describe('what bytes are', () => {
  test.each([
    [hex('89504e470d0a1a0a'), 'text/plain', 'image/png'],
    [hex('ffd8ffe0'), 'image/png', 'image/jpeg'],
    [hex('474946383961'), undefined, 'image/gif'],
    [hex('52494646000000005745425056503820'), undefined, 'image/webp'],
    [hex('255044462d312e37'), undefined, 'application/pdf'],
    [Buffer.from('%PDF-1.4 in letters'), 'text/plain', 'application/pdf'],
    [hex('504b0304'), 'application/vnd.oasis.opendocument.text', 'application/vnd.oasis.opendocument.text'],
    [hex('504b0304'), 'image/png', 'application/zip'],
    [hex('cafebabe'), 'image/png', 'application/octet-stream'],
    [hex('cafebabe'), 'image/x-unheard-of', 'application/octet-stream'],
    [hex('cafebabe'), 'application/java-vm', 'application/java-vm'],
    [Buffer.from('BM is a text'), 'image/bmp', 'text/plain'],
    [Buffer.from('{"a":1}'), 'application/json', 'application/json'],
    [Buffer.from('<svg/>'), 'image/svg+xml', 'image/svg+xml'],
    [Buffer.from(''), undefined, 'text/plain'],
  ])('is told by their beginning before what was said of them: %#', (bytes, given, expected) => {
    expect(knownBytes(bytes, given).mediaType).toBe(expected);
  });

  test('is a text in whatever of the encodings it came, and never one that would lose a byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const plain = text.replaceAll('\0', '');
        expect(knownBytes(Buffer.from(plain), undefined).text).toBe(plain);
        const wide = knownBytes(Buffer.from(`\ufeff${plain}`, 'utf16le'), undefined);
        expect([wide.text, wide.isUtf8]).toEqual([plain, false]);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const { text, isUtf8 } = knownBytes(bytes, undefined);
        if (text !== undefined && isUtf8) expect(new Uint8Array(Buffer.from(text))).toEqual(bytes);
      }),
    );
  });

  test.each([
    ['image/PNG; q=1', 'image/png'],
    ['png', undefined],
    ['a/b c', undefined],
    ['', undefined],
  ])('has a media type where it is one: %s', (given, expected) => {
    expect(readMediaType(given)).toBe(expected);
  });
});

test('a cache keeps what was used last, within its bound', async () => {
  const cache = new ByteCache<Uint8Array>(100);
  let loads = 0;
  const get = (key: string, size = 40) => cache.get(key, () => Promise.resolve((loads++, new Uint8Array(size))));
  await get('a');
  await get('b');
  await get('a');
  await get('c');
  await get('a');
  expect([loads, cache.bytes]).toEqual([3, 80]);
  await get('b');
  expect(loads).toBe(4);
  await get('huge', 101);
  expect([loads, cache.bytes]).toEqual([5, 80]);
  expect(await cache.get('none', () => Promise.resolve(undefined))).toBeUndefined();
});
