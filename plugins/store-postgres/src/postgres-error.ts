import { isPerdureError, PerdureError, reasonOf, type ErrorCode } from '@perdure/plugin-api';
import pg from 'pg';

/** The states of SQL that mean something else than that the store cannot be used at the moment. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  // The server's disk is full.
  '53100': 'PERDURE_STORE_FULL',
  // A server that follows another one, or a role that may only read.
  '25006': 'PERDURE_STORE_READ_ONLY',
  '42501': 'PERDURE_STORE_READ_ONLY',
  // Bytes that cannot be what was written.
  '22021': 'PERDURE_STORE_DAMAGED',
  XX001: 'PERDURE_STORE_DAMAGED',
  XX002: 'PERDURE_STORE_DAMAGED',
  // The tables were made by this package: what is not there was taken away.
  '3F000': 'PERDURE_STORE_DAMAGED',
  '42P01': 'PERDURE_STORE_DAMAGED',
  '42703': 'PERDURE_STORE_DAMAGED',
  '42883': 'PERDURE_STORE_DAMAGED',
};

/** States that mean that the server refuses who connects, and what to look at. */
const REFUSED: Readonly<Record<string, { readonly field: string; readonly reason: string }>> = {
  '28000': { field: 'user', reason: 'the server does not let this user in' },
  '28P01': { field: 'password', reason: 'the server refused the password' },
  '3D000': { field: 'database', reason: 'the server has no such database' },
};

/** Classes of errors of the batch itself: another batch beside it may well be stored. */
const CLASSES_OF_DATA: ReadonlySet<string> = new Set(['22', '23', '54']);

/** The typed error for what the client or the server threw. */
export function storeError(error: unknown): PerdureError {
  if (isPerdureError(error)) return error;
  const state = stateOf(error);
  const refused = REFUSED[state ?? ''];
  if (refused !== undefined) return new PerdureError('PERDURE_CONFIGURATION', refused, { cause: error });
  return new PerdureError(
    CODES[state ?? ''] ?? 'PERDURE_STORE_UNAVAILABLE',
    { reason: reasonOf(error) },
    { cause: error },
  );
}

/** The server answered that nothing was done, and the connection can be used again. */
export function isDefinite(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

/** A connection after such an error is of no use: it is lost, or leads to a server that cannot write. */
export function endsConnection(error: unknown): boolean {
  return !isDefinite(error) || error.code === '25006';
}

/** The error is about what was sent, not about the server or the connection. */
export function isAboutData(error: unknown): boolean {
  return CLASSES_OF_DATA.has(stateOf(error)?.slice(0, 2) ?? '');
}

/** A part of the store that cannot be what was written. */
export function damaged(reason: string, stream?: string): PerdureError {
  const named = stream === undefined ? reason : `${reason} in the stream "${stream}"`;
  return new PerdureError('PERDURE_STORE_DAMAGED', { reason: named, stream });
}

/** The facts of a stream end before its last revision. `lastRevision` is -1 when none is left. */
export function truncated(stream: string, lastRevision: number): PerdureError {
  return new PerdureError('PERDURE_STORE_TRUNCATED', { stream, lastRevision });
}

function stateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
