import { describe, expect, test } from 'vitest';
import { decideAppend, decideDeletion, type StreamView } from './append-decision.js';
import type { ExpectedRevision } from './expected-revision.js';

interface Given {
  /** The ids in the stream, by revision. */
  readonly stored?: readonly string[];
  readonly softDeleted?: boolean;
  readonly tombstoned?: boolean;
  readonly metadata?: boolean;
  /** The ids that the process remembers; all of the stored ones when absent. */
  readonly remembered?: readonly string[];
}

function given({ stored = [], softDeleted, tombstoned, metadata, remembered = stored }: Given): StreamView {
  return {
    head: stored.length - 1,
    isSoftDeleted: softDeleted === true,
    isTombstoned: tombstoned === true,
    hasMetadata: metadata === true || softDeleted === true,
    idAt: (revision) => stored[revision],
    recentRevisionOf: (id) => (remembered.includes(id) ? stored.indexOf(id) : undefined),
  };
}

const writtenAt = (from: number, reopens = false) => ({ kind: 'write', from, reopens });
const repeatOf = (last: number) => ({ kind: 'repeat', last });
const conflictAt = (actual: number) => ({ kind: 'wrong-expected-revision', actual });
const deleted = { kind: 'deleted' };

const ab = { stored: ['a', 'b'] };
const abc = { stored: ['a', 'b', 'c'] };
const forgotten = { ...ab, remembered: [] };
const softDeleted = { ...ab, softDeleted: true };
const onlyMetadata = { metadata: true };

type Row = readonly [given: Given, when: ExpectedRevision, ids: readonly string[], then: object];

const rows: Readonly<Record<string, readonly Row[]>> = {
  'an exact revision': [
    [ab, 1, ['x'], writtenAt(2)],
    [ab, 5, ['x'], conflictAt(1)],
    [ab, 0, ['x'], conflictAt(1)],
    [{}, 0, ['x'], conflictAt(-1)],
    [onlyMetadata, 0, ['x'], conflictAt(-1)],
    [softDeleted, 1, ['x'], writtenAt(2, true)],
    [softDeleted, 0, ['x'], conflictAt(1)],
  ],
  'no stream': [
    [{}, 'no-stream', ['x'], writtenAt(0)],
    [onlyMetadata, 'no-stream', ['x'], writtenAt(0)],
    [ab, 'no-stream', ['x'], conflictAt(1)],
    [softDeleted, 'no-stream', ['x'], writtenAt(2, true)],
  ],
  'an existing stream': [
    [ab, 'stream-exists', ['x'], writtenAt(2)],
    [{}, 'stream-exists', ['x'], conflictAt(-1)],
    [onlyMetadata, 'stream-exists', ['x'], writtenAt(0)],
    [softDeleted, 'stream-exists', ['x'], conflictAt(1)],
  ],
  anything: [
    [{}, 'any', ['x'], writtenAt(0)],
    [ab, 'any', ['x'], writtenAt(2)],
    [softDeleted, 'any', ['x'], writtenAt(2, true)],
  ],
  'a repeat with an exact revision': [
    [abc, 'no-stream', ['a', 'b'], repeatOf(1)],
    [abc, 0, ['b', 'c'], repeatOf(2)],
    [abc, 0, ['b'], repeatOf(1)],
    [{ ...abc, remembered: [] }, 0, ['b', 'c'], repeatOf(2)],
    [abc, 0, ['c', 'b'], conflictAt(2)],
    [abc, 0, ['b', 'x'], conflictAt(2)],
    [abc, 0, ['b', 'c', 'd'], conflictAt(2)],
    [softDeleted, 'no-stream', ['a', 'b'], repeatOf(1)],
    [softDeleted, 'no-stream', ['a', 'x'], conflictAt(1)],
  ],
  'a repeat without an exact revision': [
    [ab, 'any', ['a', 'b'], repeatOf(1)],
    [ab, 'any', ['b', 'a'], repeatOf(0)],
    [ab, 'stream-exists', ['b'], repeatOf(1)],
    [forgotten, 'any', ['a', 'b'], writtenAt(2)],
    [ab, 'any', ['a', 'x'], conflictAt(1)],
    [ab, 'any', ['x', 'a'], writtenAt(2)],
  ],
  'no events': [
    [ab, 1, [], writtenAt(2)],
    [ab, 0, [], conflictAt(1)],
    [ab, 'any', [], writtenAt(2)],
    [{}, 'no-stream', [], writtenAt(0)],
    [{}, 'stream-exists', [], conflictAt(-1)],
  ],
  'a tombstoned stream': [
    [{ ...ab, tombstoned: true }, 1, ['x'], deleted],
    [{ ...ab, tombstoned: true }, 'no-stream', ['a'], deleted],
    [{ ...ab, tombstoned: true }, 'any', ['a'], deleted],
    [{ ...ab, tombstoned: true }, 'stream-exists', ['a'], deleted],
  ],
};

describe.each(Object.entries(rows))('an append with %s', (_, cases) => {
  test.each(cases)('given %j, when %j is expected of %j, then %j', (stream, expected, ids, outcome) => {
    expect(decideAppend(given(stream), expected, ids)).toEqual(outcome);
  });
});

describe('a deletion', () => {
  test.each<readonly [Given, ExpectedRevision, object]>([
    [ab, 1, writtenAt(2)],
    [ab, 0, conflictAt(1)],
    [ab, 'no-stream', conflictAt(1)],
    [ab, 'any', writtenAt(2)],
    [{}, 'no-stream', writtenAt(0)],
    [softDeleted, 'any', writtenAt(2, true)],
    [{ ...ab, tombstoned: true }, 'any', deleted],
  ])('given %j, when %j is expected, then %j', (stream, expected, outcome) => {
    expect(decideDeletion(given(stream), expected)).toEqual(outcome);
  });
});
