import { describe, expect, test } from 'vitest';
import { failureOf } from './failure.js';
import { TimeOut } from './timer.js';

/** An error as the client or its transport throws it. */
function thrown(properties: Readonly<Record<string, unknown>>, message = 'it failed'): Error {
  return Object.assign(new Error(message), properties);
}

describe('an error of the client', () => {
  test.each([
    [
      { type: 'wrong-expected-version', actualVersion: 7n },
      { kind: 'conflict', actual: 7 },
    ],
    [
      { type: 'wrong-expected-version', actualVersion: 'no_stream' },
      { kind: 'conflict', actual: 'none' },
    ],
    [{ type: 'stream-deleted' }, { kind: 'deleted' }],
    [{ type: 'stream-not-found' }, { kind: 'missing' }],
    [
      { type: 'maximum-append-size-exceeded', maxAppendSize: 9 },
      { kind: 'too-large', limit: 9 },
    ],
    [{ type: 'not-leader', code: 5 }, { kind: 'not-now' }],
    [{ type: 'access-denied', code: 7 }, { kind: 'fatal' }],
    [{ type: 'missing-required-metadata-property', code: 3 }, { kind: 'fatal' }],
    [{ type: 'timeout', code: 10 }, { kind: 'ambiguous' }],
    [{ type: 'deadline-exceeded', code: 4 }, { kind: 'ambiguous' }],
    [{ type: 'unavailable', code: 14 }, { kind: 'ambiguous' }],
    [{ type: 'cancelled', code: 1 }, { kind: 'ambiguous' }],
    [{ type: 'unknown' }, { kind: 'ambiguous' }],
    // The transport throws errors of its own, which have a status only.
    [{ code: 14 }, { kind: 'ambiguous' }],
    [{ code: 3 }, { kind: 'fatal' }],
    [{ code: 16 }, { kind: 'fatal' }],
    [{}, { kind: 'ambiguous' }],
  ])('%o means %o', (properties, failure) => {
    expect(failureOf(thrown(properties))).toMatchObject(failure);
  });

  test.each([
    ['Could not recognize Server Is Busy', 'not-now'],
    ['Could not recognize Server Is Not Ready', 'not-now'],
    ['14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1', 'not-now'],
    ['Failed to discover after 10 attempts.', 'not-now'],
    ['14 UNAVAILABLE: Connection dropped', 'ambiguous'],
    ['2 UNKNOWN: Maximum Append Event Size of 9 Exceeded.', 'too-large'],
  ])('that says "%s" is %s', (message, kind) => {
    expect(failureOf(thrown({}, message)).kind).toBe(kind);
  });

  test('is ambiguous when the call was given up', () => {
    expect(failureOf(new TimeOut(5))).toEqual({ kind: 'ambiguous', reason: 'no answer within 5 ms' });
  });
});
