import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claimedHashes, FIRST_PREV_HASH, isFactIntact, sealMetadata, type FactText } from './hash-chain.js';

const vector = z.strictObject({
  name: z.string(),
  id: z.string(),
  type: z.string(),
  payload: z.string(),
  head: z.string(),
  prevHash: z.string(),
  hash: z.string(),
  metadata: z.string(),
});
const file = new URL('../fixtures/hash-chain.v1.json', import.meta.url);
const { vectors } = z.looseObject({ vectors: z.array(vector) }).parse(JSON.parse(readFileSync(file, 'utf8')));

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Every way to change one character of a text into another, dropped or doubled one, at some places of it. */
function* changed(text: string): Generator<string> {
  const step = Math.max(1, Math.floor(text.length / 40));
  for (let at = 0; at < text.length; at += step) {
    const other = text[at] === 'a' ? 'b' : 'a';
    yield text.slice(0, at) + other + text.slice(at + 1);
    yield text.slice(0, at) + text.slice(at + 1);
    yield `${text.slice(0, at)}${text[at] ?? ''}${text[at] ?? ''}${text.slice(at + 1)}`;
  }
}

describe('the hash rule [P14]', () => {
  test('has vectors of one stream, each joined to the one before', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(5);
    expect(vectors.map(({ prevHash }) => prevHash)).toEqual([
      FIRST_PREV_HASH,
      ...vectors.slice(0, -1).map(({ hash }) => hash),
    ]);
  });

  test.each(vectors.map((one) => [one.name, one] as const))('seals as another program does: %s', (_, one) => {
    expect(sealMetadata(one, one.prevHash, sha256)).toEqual({ metadata: one.metadata, hash: one.hash });
    expect(claimedHashes(one.metadata)).toEqual({ prevHash: one.prevHash, hash: one.hash });
    expect(isFactIntact(one, sha256)).toBe(true);
    expect(JSON.parse(one.metadata)).toMatchObject({ prevHash: one.prevHash, hash: one.hash });
  });

  test.each(['id', 'type', 'payload', 'metadata'] as const)('any change of the %s is found', (member) => {
    for (const one of vectors.slice(0, 5)) {
      for (const text of changed(one[member])) {
        if (text === one[member]) continue;
        const fact: FactText = { ...one, [member]: text };
        expect(isFactIntact(fact, sha256), `${one.name}: ${text}`).toBe(false);
      }
    }
  });

  test('a letter that only looks the same is another text', () => {
    const one = vectors[1];
    const composed = one?.payload.normalize('NFC') ?? '';
    expect(composed).not.toBe(one?.payload);
    expect(one !== undefined && isFactIntact({ ...one, payload: composed }, sha256)).toBe(false);
  });

  test.each([
    ['id', { id: 'a\nb', type: 'c', head: '{"x":1' }],
    ['type', { id: 'a', type: 'b\nc', head: '{"x":1' }],
    ['metadata', { id: 'a', type: 'b', head: '{"x":\n1' }],
  ])('a line end in the %s makes no fact, so that nothing can be moved between its texts', (_, fact) => {
    const { metadata } = sealMetadata({ ...fact, payload: '{}' }, FIRST_PREV_HASH, sha256);
    expect(isFactIntact({ ...fact, payload: '{}', metadata }, sha256)).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['no hashes', '{"sessionId":"s"}'],
    [
      'a hash in capitals',
      (vectors[0]?.metadata ?? '').replace(/[a-f](?=[0-9a-f]*"}$)/, (letter) => letter.toUpperCase()),
    ],
    ['the hash before the end', `${vectors[0]?.metadata.slice(0, -1) ?? ''},"more":1}`],
    ['white space at the end', `${vectors[0]?.metadata ?? ''} `],
  ])('a metadata text with %s claims no hash', (_, metadata) => {
    expect(claimedHashes(metadata)).toBeUndefined();
    expect(isFactIntact({ id: 'a', type: 'b', payload: '{}', metadata }, sha256)).toBe(false);
  });
});
