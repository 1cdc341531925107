import type { ToolFailure } from '@perdure/plugin-api';

/** What the shell tool can fail with before a command runs, beside the errors of the sandbox. */
export type ShellErrorCode =
  'aborted' | 'invalid_path' | 'not_a_directory' | 'path_not_found' | 'sandbox_denied' | 'start_failed';

/** An error that the tool throws: a `ToolFailure` with a stack. */
export type ShellFailure = Error & ToolFailure & { readonly code: ShellErrorCode };

const BRAND = Symbol.for('perdure.shell-failure');

export function shellFailure(code: ShellErrorCode, message: string, cause?: unknown): ShellFailure {
  const error = cause === undefined ? new Error(message) : new Error(message, { cause });
  Object.defineProperty(error, BRAND, { value: true });
  return Object.assign(error, { code });
}

/** Whether a value is a failure of this tool, also of another copy of this package. */
export function isShellFailure(error: unknown): error is ShellFailure {
  return error instanceof Error && BRAND in error;
}
