import { isPerdureError, reasonOf } from '@perdure/plugin-api';
import { exitCodeOf } from '../exit-code.js';
import { advice } from '../terminal/advice.js';

/** One line of `perdure doctor`. */
export interface Check {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly name: string;
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
  /** What `doctor` ends with when this fails. */
  readonly exitCode?: number;
}

export function ok(name: string, message: string): Check {
  return { level: 'ok', name, message };
}

export function warn(name: string, message: string, fix: string): Check {
  return { level: 'warn', name, message, fix };
}

export function fail(name: string, message: string, fix: string, exitCode: number): Check {
  return { level: 'fail', name, message, fix, exitCode };
}

/** A check that threw: what it says, and what to do about its code. */
export function failed(name: string, error: unknown, fix = 'Run it again with PERDURE_DEBUG=1.'): Check {
  if (!isPerdureError(error)) return fail(name, reasonOf(error), fix, exitCodeOf(error));
  return fail(name, `${error.message} (${error.code})`, advice[error.code] ?? fix, exitCodeOf(error));
}
