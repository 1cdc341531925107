import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  artifactStream,
  draftStream,
  keyText,
  leaseStream,
  sessionKeyOf,
  sessionStream,
  streamCategory,
  type SessionKey,
} from './stream-name.js';

/**
 * Any text of UTF-16 units, halves of pairs among them, with the characters that the names themselves use made likely.
 */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('_', '.', '-', '%', 'session', '%5F', 'u', '/', 'é', '🙂'),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));
const key: fc.Arbitrary<SessionKey> = fc.oneof(fc.record({ id: text }), fc.record({ tenant: text, id: text }));

function isSame(a: SessionKey, b: SessionKey): boolean {
  return a.tenant === b.tenant && a.id === b.id;
}

describe('names of streams [P17]', () => {
  test('lead back to their key', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(sessionKeyOf(sessionStream(one))).toEqual(one);
      }),
    );
  });

  test('of two keys are equal only when the keys are', () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(sessionStream(one) === sessionStream(other)).toBe(isSame(one, other));
        expect(keyText(one) === keyText(other)).toBe(isSame(one, other));
      }),
    );
  });

  test('are plain ASCII without white space', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(sessionStream(one)).toMatch(/^session-[A-Za-z0-9_%-]*\.[A-Za-z0-9_%-]*$/);
      }),
    );
  });

  test('begin with their category', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(streamCategory(sessionStream(one))).toBe('session');
        expect(streamCategory(draftStream(one))).toBe('draft');
        expect(streamCategory(leaseStream(one.id))).toBe('lease');
      }),
    );
  });

  test.each([
    [{ id: 's' }, 'session-_.s'],
    [{ tenant: 'acme', id: 's' }, 'session-acme.s'],
    [{ tenant: '_', id: '_' }, 'session-%5F.%5F'],
    [{ tenant: 'a.b', id: 'c-d' }, 'session-a%2Eb.c-d'],
    [{ id: 'é🙂' }, 'session-_.%C3%A9%F0%9F%99%82'],
    [{ id: '\ud800' }, 'session-_.%uD800'],
    [{ tenant: '', id: '' }, 'session-.'],
  ])('%j is %s', (one: SessionKey, stream) => {
    expect(sessionStream(one)).toBe(stream);
  });

  test('artifacts are apart by tenant and digest', () => {
    expect(artifactStream(undefined, 'sha256:0f')).toBe('artifact-_-sha256:0f');
    expect(artifactStream('_', 'sha256:0f')).toBe('artifact-%5F-sha256:0f');
    expect(artifactStream('a:b', 'sha256:0f')).toBe('artifact-a%3Ab-sha256:0f');
  });

  test('no tenant can spell the key of another', () => {
    expect(sessionStream({ tenant: 'a', id: 'b.c' })).not.toBe(sessionStream({ tenant: 'a.b', id: 'c' }));
    expect(sessionStream({ tenant: '_', id: 'x' })).not.toBe(sessionStream({ id: 'x' }));
  });

  test.each(['draft-_.s', 'lease-node', 'session', 'session-_', 'session-a.b.c', 'session-_.%ZZ', 'session-%C3.s'])(
    '%s is the stream of no session',
    (stream) => {
      expect(sessionKeyOf(stream)).toBeUndefined();
    },
  );
});
