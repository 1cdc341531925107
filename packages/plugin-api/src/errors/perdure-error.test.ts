import { beforeEach, describe, expect, test, vi } from 'vitest';
import { errorMessage, isPerdureError, PerdureError, reasonOf } from './perdure-error.js';
import { errorTable, type ErrorCode } from './table.js';

const throws = (): never => {
  throw new Error('no');
};
const hostile = new Proxy({}, { get: throws, has: throws, getPrototypeOf: throws });

const codes = Object.keys(errorTable) as ErrorCode[];

describe('a PerdureError', () => {
  test('carries code, data and cause, and says what happened', () => {
    const cause = new Error('disk');
    const error = new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: 'no disk' }, { cause });
    expect(error).toMatchObject({
      name: 'PerdureError',
      code: 'PERDURE_STORE_UNAVAILABLE',
      data: { reason: 'no disk' },
    });
    expect(error.message).toBe('The store cannot be used: no disk.');
    expect(error.cause).toBe(cause);
    expect(error).toBeInstanceOf(Error);
    expect(error.entry).toBe(errorTable.PERDURE_STORE_UNAVAILABLE);
  });

  test('does not show its mark when it is printed or made into JSON', () => {
    const error = new PerdureError('PERDURE_INTERNAL', { reason: 'x' });
    expect(Object.keys(error)).not.toContain('perdure.error');
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PerdureError',
      code: 'PERDURE_INTERNAL',
      data: { reason: 'x' },
    });
  });

  test('fills what its data has into the message and leaves the name of what it lacks', () => {
    expect(errorMessage('PERDURE_STORE_TOO_LARGE', { bytes: 9, limit: 0 })).toBe(
      '9 bytes are more than the store keeps as one: 0.',
    );
    expect(errorMessage('PERDURE_SESSION_BUSY', { session: 's', turn: undefined })).toBe(
      'The session "s" is busy with turn "turn".',
    );
    expect(errorMessage('PERDURE_SESSION_NOT_FOUND', { session: '{turn} $& $1' })).toBe(
      'There is no session "{turn} $& $1".',
    );
  });

  test.each(codes)('%s has a message of one sentence and a status that fits its kind', (code) => {
    const { message, kind, status, retryable } = errorTable[code];
    expect(message.trim()).toBe(message);
    const [from, to] = kind === 'unavailable' || kind === 'bug' ? [500, 599] : [400, 499];
    if (code !== 'PERDURE_SNAPSHOT_UNSUPPORTED') {
      expect(status).toBeGreaterThanOrEqual(from);
      expect(status).toBeLessThanOrEqual(to);
    }
    if (retryable) expect(['conflict', 'unavailable']).toContain(kind);
  });
});

describe('isPerdureError', () => {
  beforeEach(() => vi.resetModules());

  test('knows the errors of a second copy of this package', async () => {
    const second = await import('./perdure-error.js');
    expect(second.PerdureError).not.toBe(PerdureError);
    const error = new second.PerdureError('PERDURE_STORE_FULL');
    expect(error).not.toBeInstanceOf(PerdureError);
    expect(isPerdureError(error)).toBe(true);
    expect(isPerdureError(error, 'PERDURE_STORE_FULL')).toBe(true);
    expect(isPerdureError(error, 'PERDURE_STORE_CLOSED')).toBe(false);
    expect(second.isPerdureError(new PerdureError('PERDURE_STORE_FULL'), 'PERDURE_STORE_FULL')).toBe(true);
  });

  test.each([undefined, null, 'PERDURE_INTERNAL', 7, {}, { code: 'PERDURE_INTERNAL' }, new Error('PERDURE_INTERNAL')])(
    'is not deceived by %s',
    (value) => {
      expect(isPerdureError(value)).toBe(false);
    },
  );

  test('is not deceived by a mark without a code of the table, nor by what throws', () => {
    const mark = { [Symbol.for('perdure.error')]: { value: true } };
    const marked = (code: object) => Object.defineProperties({}, { ...mark, ...code });
    for (const value of [undefined, 5, 'no code', 'toString', ['PERDURE_INTERNAL']]) {
      expect(isPerdureError(marked({ code: { value } }))).toBe(false);
      expect(isPerdureError(marked({ code: { value } }), value as never)).toBe(false);
    }
    expect(isPerdureError(marked({ code: { value: 'PERDURE_INTERNAL' } }), 'PERDURE_INTERNAL')).toBe(true);
    expect(isPerdureError(marked({ code: { get: throws } }))).toBe(false);
    expect(isPerdureError(hostile)).toBe(false);
  });
});

describe('reasonOf', () => {
  test('takes the message of an error and the text of everything else', () => {
    expect(reasonOf(new TypeError('wrong'))).toBe('wrong');
    expect(reasonOf('wrong')).toBe('wrong');
    expect(reasonOf(undefined)).toBe('undefined');
  });

  test.each<[string, unknown]>([
    ['a value without a prototype', Object.create(null)],
    ['an error whose message throws', Object.defineProperty(new Error('x'), 'message', { get: throws })],
    ['an error whose message has no text', Object.assign(new Error('x'), { message: Object.create(null) as string })],
    ['a value whose toString throws', { toString: throws }],
    ['a proxy that throws', hostile],
    ['a symbol', Symbol('odd')],
  ])('has a text for %s', (_, thrown) => {
    expect(reasonOf(thrown)).toMatch(/\w/);
  });

  test('cuts long texts and says so', () => {
    expect(reasonOf('x'.repeat(300))).toBe('x'.repeat(300));
    expect(reasonOf('no '.repeat(200))).toBe(`${'no '.repeat(100)}…`);
    expect(reasonOf(`no ${'x'.repeat(3_000)}`)).toBe('no …');
  });
});
