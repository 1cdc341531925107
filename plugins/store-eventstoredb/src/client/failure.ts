import { reasonOf } from '@perdure/plugin-api';
import { TimeOut } from './timer.js';

/** What an error of the client means for the store. */
export type Failure =
  | { readonly kind: 'conflict'; readonly actual: number | 'none' }
  /** The stream was ended for ever. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too-large'; readonly limit: number }
  /** It was not done, and may be done by another node or a little later. */
  | { readonly kind: 'not-now'; readonly reason: string }
  /** It may have been done, or not. */
  | { readonly kind: 'ambiguous'; readonly reason: string }
  /** It was not done, and will not be. */
  | { readonly kind: 'fatal'; readonly reason: string };

/** The errors of the client have a `type`; those of its transport only a status. */
interface ClientError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly message: string;
  readonly actualVersion?: unknown;
  readonly maxAppendSize?: unknown;
}

/** Status numbers of gRPC. */
const CODES = {
  invalidArgument: 3,
  permissionDenied: 7,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unauthenticated: 16,
} as const;
const DEFINITE_CODES: ReadonlySet<unknown> = new Set(Object.values(CODES));

const FATAL_TYPES: ReadonlySet<unknown> = new Set([
  'access-denied',
  'invalid-argument',
  'invalid-transaction',
  'missing-required-metadata-property',
  'unsupported',
]);

/** What servers and transports say when a request has not reached the store. */
const NOT_REACHED = /server is busy|server is not ready|no leader info|ECONNREFUSED|failed to discover/i;

/** The client throws this text for limits that it does not know. */
const SIZE_TEXT = /maximum.append.(?:event.)?size/i;

/** Whatever is not known to be definite counts as ambiguous: sending the identical batch again is always safe. */
export function failureOf(error: unknown): Failure {
  const reason = reasonOf(error);
  if (error instanceof TimeOut || !(error instanceof Error)) return { kind: 'ambiguous', reason };
  const { type, code, message, actualVersion, maxAppendSize }: ClientError = error;
  switch (type) {
    case 'wrong-expected-version':
      return { kind: 'conflict', actual: typeof actualVersion === 'bigint' ? Number(actualVersion) : 'none' };
    case 'stream-deleted':
      return { kind: 'deleted' };
    case 'stream-not-found':
    case 'no-stream':
      return { kind: 'missing' };
    case 'maximum-append-size-exceeded':
      return { kind: 'too-large', limit: Number(maxAppendSize) };
    case 'not-leader':
      return { kind: 'not-now', reason };
    default:
      if (FATAL_TYPES.has(type)) return { kind: 'fatal', reason };
  }
  if (SIZE_TEXT.test(message)) return { kind: 'too-large', limit: Number.NaN };
  if (NOT_REACHED.test(message)) return { kind: 'not-now', reason };
  return DEFINITE_CODES.has(code) ? { kind: 'fatal', reason } : { kind: 'ambiguous', reason };
}
