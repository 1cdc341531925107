import { isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';

/** Runs work on files. What the file system refuses is a typed error. */
export async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw typed(error);
  }
}

/** The typed error for what the file system refused. */
export function typed(error: unknown): PerdureError {
  if (isPerdureError(error)) return error;
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new PerdureError('PERDURE_STORE_FULL', {}, { cause: error });
  const reason = reasonOf(error);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new PerdureError('PERDURE_STORE_READ_ONLY', { reason }, { cause: error });
  }
  return new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason }, { cause: error });
}

export function damaged(reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_STORE_DAMAGED', { reason }, { cause });
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
