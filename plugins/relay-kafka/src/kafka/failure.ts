import { isPerdureError, PerdureError, reasonOf } from '@perdure/plugin-api';

/**
 * What is to be done about a failure: `fenced`, another relay has taken over; `too-large`, the batch does not fit;
 * `denied`, somebody must give a permission or a password; `unavailable`, it may work later.
 */
export type FailureKind = 'fenced' | 'too-large' | 'denied' | 'unavailable';

const FENCED = new Set(['INVALID_PRODUCER_EPOCH', 'TRANSACTION_COORDINATOR_FENCED', 'PRODUCER_FENCED']);
const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const DENIED = /_AUTHORIZATION_FAILED$|^SASL_AUTHENTICATION_FAILED$|^UNSUPPORTED_SASL_MECHANISM$|^ILLEGAL_SASL_STATE$/;

export function failureKind(error: unknown): FailureKind {
  for (const { name, type } of causes(error)) {
    if (type !== undefined && FENCED.has(type)) return 'fenced';
    if (type !== undefined && TOO_LARGE.has(type)) return 'too-large';
    if (name === 'KafkaJSSASLAuthenticationError' || (type !== undefined && DENIED.test(type))) return 'denied';
  }
  return 'unavailable';
}

/** The protocol's name of what went wrong, where there is one. */
export function failureType(error: unknown): string | undefined {
  return causes(error).find(({ type }) => type !== undefined)?.type;
}

/** What the client threw, as an error of this project. */
export function relayFailure(error: unknown): PerdureError {
  if (isPerdureError(error)) return error;
  const reason = [failureType(error), reasonOf(error)].filter((text) => text !== undefined).join(': ');
  const code = failureKind(error) === 'denied' ? 'PERDURE_RELAY_DENIED' : 'PERDURE_RELAY_UNAVAILABLE';
  return new PerdureError(code, { reason }, { cause: error });
}

interface Cause {
  readonly name?: string;
  readonly type?: string;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** The error, what it was caused by, and all of several. */
function causes(error: unknown): readonly Cause[] {
  if (typeof error !== 'object' || error === null) return [];
  const one = error as Cause;
  const below = [one.cause, ...(one.errors ?? [])].filter((cause) => cause !== error);
  return [one, ...below.flatMap(causes)];
}
