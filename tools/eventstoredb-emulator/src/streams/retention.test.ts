import { describe, expect, test } from 'vitest';
import { firstVisibleRevision, isExpired } from './retention.js';
import { isSoftDeleted, parseMetadata, reopening, softDeletion, type StreamMetadata } from './stream-metadata.js';

describe('the first visible revision', () => {
  test.each<readonly [StreamMetadata, head: number, first: number]>([
    [{}, 4, 0],
    [{ $maxCount: 2 }, 4, 3],
    [{ $maxCount: 9 }, 4, 0],
    [{ $tb: 3 }, 4, 3],
    [{ $tb: 9 }, 4, 9],
    [{ $tb: 1, $maxCount: 2 }, 4, 3],
    [{ $tb: 4, $maxCount: 2 }, 4, 4],
  ])('with %j and the head %i is %i', (metadata, head, first) => {
    expect(firstVisibleRevision(metadata, head)).toBe(first);
  });

  test('is behind the head after a soft delete', () => {
    expect(firstVisibleRevision(parseMetadata(softDeletion({}, 'id').data), 4)).toBe(5);
  });
});

test('an event expires when it is older than $maxAge', () => {
  expect(isExpired({ $maxAge: 10 }, 1_000, 11_000)).toBe(false);
  expect(isExpired({ $maxAge: 10 }, 1_000, 11_001)).toBe(true);
  expect(isExpired({}, 0, 1e12)).toBe(false);
});

describe('the events of a soft delete', () => {
  test('delete by the largest number, exactly, and keep other settings', () => {
    const { data } = softDeletion({ $maxCount: 3, $tb: 2 }, 'id');
    expect(Buffer.from(data).toString()).toBe('{"$maxCount":3,"$tb":9223372036854775807}');
    expect(isSoftDeleted(parseMetadata(data))).toBe(true);
  });

  test('open the stream again at a revision', () => {
    const deleted = parseMetadata(softDeletion({ $maxCount: 3 }, 'id').data);
    expect(parseMetadata(reopening(deleted, 7, 'id').data)).toEqual({ $maxCount: 3, $tb: 7 });
  });
});

test('metadata that cannot be read are none', () => {
  expect(parseMetadata(Buffer.from('{'))).toEqual({});
  expect(parseMetadata(Buffer.from('null'))).toEqual({});
});
