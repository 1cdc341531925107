import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { errorTable, PerdureError, type ErrorCode } from '@perdure/plugin-api';
import { exitCodeOf, exitCodes } from './exit-code.js';

test.each<[ErrorCode, number]>([
  ['PERDURE_CONFIGURATION', exitCodes.usage],
  ['PERDURE_MODEL_MISSING', exitCodes.usage],
  ['PERDURE_SESSION_NOT_FOUND', exitCodes.usage],
  ['PERDURE_NOT_SUPPLIED', exitCodes.usage],
  ['PERDURE_FACT_NEWER', exitCodes.usage],
  ['PERDURE_SESSION_BUSY', exitCodes.busy],
  ['PERDURE_SESSION_OWNED', exitCodes.busy],
  ['PERDURE_STORE_CONTENDED', exitCodes.busy],
  ['PERDURE_CHAIN_BROKEN', exitCodes.differs],
  ['PERDURE_ANCHOR_MISMATCH', exitCodes.differs],
  ['PERDURE_REPLAY_DIFFERS', exitCodes.differs],
  ['PERDURE_STORE_UNAVAILABLE', exitCodes.store],
  ['PERDURE_STORE_AMBIGUOUS', exitCodes.store],
  ['PERDURE_STORE_TRUNCATED', exitCodes.store],
  ['PERDURE_STORE_NEWER', exitCodes.store],
  ['PERDURE_MODEL_UNAVAILABLE', exitCodes.failed],
  ['PERDURE_INTERNAL', exitCodes.failed],
])('%s is exit code %i', (code, exitCode) => {
  expect(exitCodeOf(new PerdureError(code))).toBe(exitCode);
});

test('every code has one, and what is no PerdureError has one too', () => {
  const known = new Set<number>(Object.values(exitCodes));
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    expect(known.has(exitCodeOf(new PerdureError(code))), code).toBe(true);
    expect(exitCodeOf(new PerdureError(code)), code).not.toBe(0);
  }
  expect(exitCodeOf(new Error('x'))).toBe(exitCodes.failed);
  expect(exitCodeOf(new CommanderError(1, 'commander.unknownOption', 'x'))).toBe(exitCodes.usage);
});
