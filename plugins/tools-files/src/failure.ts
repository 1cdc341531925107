import type { JsonValue } from '@perdure/events';
import { cutText, type ToolFailure } from '@perdure/plugin-api';

/** What a file or search tool can fail with. */
export type FileErrorCode =
  | 'aborted'
  | 'binary_file'
  | 'content_too_large'
  | 'duplicate_match'
  | 'edit_too_large'
  | 'encoding_error'
  | 'file_changed'
  | 'file_exists'
  | 'file_not_found'
  | 'file_too_large'
  | 'internal_error'
  | 'invalid_path'
  | 'invalid_pattern'
  | 'no_edits'
  | 'not_a_directory'
  | 'not_a_file'
  | 'not_found'
  | 'overlapping_edits'
  | 'path_not_found'
  | 'permission_denied'
  | 'rg_unavailable'
  | 'sandbox_denied'
  | 'search_failed'
  | 'too_many_edits';

/** An error that a tool throws: a `ToolFailure` with a stack. */
export type FileFailure = Error & ToolFailure & { readonly code: FileErrorCode };

const BRAND = Symbol.for('perdure.file-failure');

export function fileFailure(
  code: FileErrorCode,
  message: string,
  options: { readonly data?: JsonValue; readonly cause?: unknown } = {},
): FileFailure {
  const error = options.cause === undefined ? new Error(message) : new Error(message, { cause: options.cause });
  const data = options.data === undefined ? {} : { data: options.data };
  Object.defineProperty(error, BRAND, { value: true });
  return Object.assign(error, { code, ...data });
}

/** Whether a value is a failure of these tools, also of another copy of this package. */
export function isFileFailure(error: unknown): error is FileFailure {
  return error instanceof Error && BRAND in error;
}

/** A path for a message: as the model gave it, quoted, and cut when it is very long. */
export function quoted(given: string): string {
  return JSON.stringify(given.length > 300 ? `${cutText(given, 300)}…` : given);
}

/** Throws `aborted` when the call was stopped. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw fileFailure('aborted', 'The call was stopped before it finished.');
}
