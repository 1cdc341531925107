import { isPerdureError, type ErrorCode, type PerdureError } from '@perdure/plugin-api';
import { expect } from 'vitest';

/** Runs work that must fail with a PerdureError of a code, and returns the error. */
export async function expectError(code: ErrorCode, work: () => Promise<unknown>): Promise<PerdureError> {
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isPerdureError(error, code)) return error;
  expect(error, `an error ${code}`).toMatchObject({ code });
  throw error;
}

/** Runs work that must fail because the caller's input is not valid at a field. */
export async function expectInvalid(field: string, work: () => Promise<unknown>): Promise<void> {
  const error = await expectError('PERDURE_INPUT_INVALID', work);
  expect(error.data).toMatchObject({ field });
  expect(error.data['reason']).not.toBe('');
}

/** Runs work that must fail because a snapshot is not valid at a field. */
export async function expectInvalidSnapshot(field: string, work: () => Promise<unknown>): Promise<void> {
  const error = await expectError('PERDURE_SNAPSHOT_INVALID', work);
  expect(error.data).toMatchObject({ field });
}
