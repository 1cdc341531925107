import { isPerdureError, PerdureError, reasonOf, type ErrorCode } from '@perdure/plugin-api';

/** Primary result codes of SQLite. */
const SQLITE = {
  ERROR: 1,
  PERM: 3,
  BUSY: 5,
  READONLY: 8,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  NOTADB: 26,
} as const;

/** The file ends where it must not. */
const IOERR_SHORT_READ = 522;

/** What SQLite says for a code. A driver may give the message alone. */
const MESSAGES: Readonly<Record<string, number>> = {
  'database is locked': SQLITE.BUSY,
  'attempt to write a readonly database': SQLITE.READONLY,
  'database disk image is malformed': SQLITE.CORRUPT,
  'database or disk is full': SQLITE.FULL,
  'unable to open database file': SQLITE.CANTOPEN,
  'file is not a database': SQLITE.NOTADB,
};

const SQLITE_CODES: Readonly<Record<number, ErrorCode>> = {
  [SQLITE.PERM]: 'PERDURE_STORE_READ_ONLY',
  [SQLITE.READONLY]: 'PERDURE_STORE_READ_ONLY',
  [SQLITE.CORRUPT]: 'PERDURE_STORE_DAMAGED',
  [SQLITE.NOTADB]: 'PERDURE_STORE_DAMAGED',
  // The tables have no constraint that sound data could break.
  [SQLITE.CONSTRAINT]: 'PERDURE_STORE_DAMAGED',
  // The schema was made by this package: a statement that does not fit means that it is not any more what was made.
  [SQLITE.ERROR]: 'PERDURE_STORE_DAMAGED',
  [SQLITE.FULL]: 'PERDURE_STORE_FULL',
};

const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'PERDURE_STORE_READ_ONLY',
  EPERM: 'PERDURE_STORE_READ_ONLY',
  EROFS: 'PERDURE_STORE_READ_ONLY',
  ENOSPC: 'PERDURE_STORE_FULL',
  EDQUOT: 'PERDURE_STORE_FULL',
};

/** An error as drivers and the file system throw it. */
interface Thrown {
  readonly message: string;
  readonly code?: unknown;
  readonly errcode?: unknown;
}

/** Runs work and throws what it throws as a PerdureError, never as an error of a driver or of the file system. */
export function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

/** The typed error for what a driver or the file system threw. Anything else is a bug and stays as it is. */
export function storeError(error: unknown): unknown {
  if (isPerdureError(error) || !(error instanceof Error)) return error;
  const code = storeErrorCode(error);
  if (code === undefined) return error;
  return new PerdureError(code, code === 'PERDURE_STORE_CLOSED' ? {} : { reason: reasonOf(error) }, { cause: error });
}

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && primaryCode(error) === SQLITE.BUSY;
}

/** Whether nothing of a commit that failed with this error can be on the disk. */
export function isVoidCommit(error: unknown): boolean {
  const code = error instanceof Error ? primaryCode(error) : undefined;
  return code === SQLITE.BUSY || code === SQLITE.FULL || code === SQLITE.READONLY;
}

/** A part of the file that cannot be what was written. */
export function damaged(reason: string, stream?: string): PerdureError {
  const named = stream === undefined ? reason : `${reason} in the stream "${stream}"`;
  return new PerdureError('PERDURE_STORE_DAMAGED', { reason: named, stream });
}

function storeErrorCode(error: Thrown): ErrorCode | undefined {
  const { code } = error;
  if (code === 'ERR_INVALID_STATE') return 'PERDURE_STORE_CLOSED';
  // A driver that met an integer which no position, revision or length can be.
  if (code === 'ERR_OUT_OF_RANGE') return 'PERDURE_STORE_DAMAGED';
  if (typeof code === 'string' && 'syscall' in error) return SYSTEM_CODES[code] ?? 'PERDURE_STORE_UNAVAILABLE';
  if (error.errcode === IOERR_SHORT_READ) return 'PERDURE_STORE_DAMAGED';
  const sqlite = primaryCode(error);
  if (sqlite !== undefined) return SQLITE_CODES[sqlite] ?? 'PERDURE_STORE_UNAVAILABLE';
  return code === 'ERR_SQLITE_ERROR' ? 'PERDURE_STORE_UNAVAILABLE' : undefined;
}

function primaryCode({ errcode, message }: Thrown): number | undefined {
  if (typeof errcode === 'number') return errcode & 0xff;
  for (const [text, code] of Object.entries(MESSAGES)) if (message.includes(text)) return code;
  return undefined;
}
