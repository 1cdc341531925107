import { fileFailure, isFileFailure, quoted, type FileErrorCode, type FileFailure } from '../failure.js';

/**
 * Codes of our own beside those of the system: not a regular file; replaced while it was in use; spelled in another way
 * than on disk.
 */
type OwnCode = 'ENOTREG' | 'ESWAPPED' | 'ESPELLING';

export interface SystemError extends Error {
  readonly code: string;
  /** The path below the workspace that the system refused, when it is not the last one. */
  readonly component?: string;
}

export function systemError(code: OwnCode | 'ELOOP' | 'ENOTDIR', component: string): SystemError {
  return Object.assign(new Error(`${code}: ${component}`), { code, component });
}

export function hasSystemCode(error: unknown, ...codes: readonly string[]): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

interface Answer {
  readonly code: FileErrorCode;
  readonly says: (path: string, component: string) => string;
}

const answers: Readonly<Record<string, Answer>> = {
  ENOENT: { code: 'file_not_found', says: (path) => `${path} does not exist.` },
  ENOTDIR: { code: 'not_a_directory', says: (path, part) => `${path} cannot be reached: ${part} is not a folder.` },
  EISDIR: { code: 'not_a_file', says: (path) => `${path} is a folder, not a file.` },
  ENOTREG: { code: 'not_a_file', says: (path) => `${path} is not a regular file.` },
  ENXIO: { code: 'not_a_file', says: (path) => `${path} is not a regular file.` },
  ELOOP: {
    code: 'sandbox_denied',
    says: (path, part) => `${path} cannot be used: ${part} is a symbolic link, and links are not followed.`,
  },
  ESWAPPED: {
    code: 'sandbox_denied',
    says: (path, part) => `${path} cannot be used: ${part} was replaced while it was in use.`,
  },
  ESPELLING: { code: 'invalid_path', says: (path, part) => `${path} is spelled ${part} on disk; use that spelling.` },
  EACCES: { code: 'permission_denied', says: (path) => `The system does not permit this use of ${path}.` },
  EPERM: { code: 'permission_denied', says: (path) => `The system does not permit this use of ${path}.` },
  EROFS: { code: 'permission_denied', says: (path) => `${path} is on a file system that cannot be written.` },
  ETXTBSY: { code: 'permission_denied', says: (path) => `${path} is a program that is running.` },
  EEXIST: { code: 'file_exists', says: (path) => `${path} exists already.` },
  ENAMETOOLONG: { code: 'invalid_path', says: (path) => `${path} is too long for the file system.` },
  ENOSPC: { code: 'internal_error', says: (path) => `There is no room left to write ${path}.` },
  EDQUOT: { code: 'internal_error', says: (path) => `There is no room left to write ${path}.` },
};

/**
 * Turns what the system threw into a failure that names the path as the model gave it. Failures pass unchanged.
 *
 * @param missing the code for a path that does not exist
 */
export function failureOf(
  error: unknown,
  given: string,
  missing: 'file_not_found' | 'path_not_found' = 'file_not_found',
): FileFailure {
  if (isFileFailure(error)) return error;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const answer = system === undefined ? undefined : answers[system];
  if (answer === undefined) {
    const code = system === undefined ? '' : ` (${system})`;
    return fileFailure('internal_error', `${quoted(given)} could not be used${code}.`, { cause: error });
  }
  const component = error instanceof Error && 'component' in error ? String(error.component) : given;
  const code = answer.code === 'file_not_found' ? missing : answer.code;
  return fileFailure(code, answer.says(quoted(given), quoted(component)), { cause: error });
}
