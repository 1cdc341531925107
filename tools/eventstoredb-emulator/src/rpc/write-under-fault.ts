import grpc from '@grpc/grpc-js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../faults/fault.js';
import type { Parts } from './parts.js';
import { accessDenied, notLeader, ServerError } from './server-error.js';

/** How a call that waits for one answer goes on. */
export type WriteEnd<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'silence' }
  /** The call ends well, and without an answer. */
  | { readonly kind: 'end' }
  /** This one request is refused; others on the same stream of calls go on. */
  | { readonly kind: 'refused'; readonly reason: 'timeout' | 'busy' | 'access-denied'; readonly error: ServerError }
  /** The whole call fails. */
  | { readonly kind: 'broken'; readonly error: ServerError };

/** Does a write as the fault that hits it wants it: before it, after it, late or never. */
export async function writeUnder<Answer>(
  fault: Fault | undefined,
  peer: string,
  { cut, stopping }: Pick<Parts, 'cut' | 'stopping'>,
  write: () => Promise<Answer>,
): Promise<WriteEnd<Answer>> {
  if (fault === undefined) return { kind: 'answer', answer: await write() };
  const wait = (ms: number): Promise<void> => delay(ms, undefined, { signal: stopping, ref: false });
  if (fault.kind === 'slow') await wait(fault.ms);
  const isDone = fault.kind === 'slow' || fault.kind === 'late-answer' || ('committed' in fault && fault.committed);
  const answer = isDone ? await write() : undefined;
  switch (fault.kind) {
    case 'slow':
      return { kind: 'answer', answer: answer as Answer };
    case 'late-answer':
      await wait(fault.ms);
      return { kind: 'answer', answer: answer as Answer };
    case 'no-answer':
      return { kind: 'silence' };
    case 'cut':
      cut(peer);
      return { kind: 'silence' };
    case 'end':
      return { kind: 'end' };
    case 'timeout':
      return { kind: 'refused', reason: 'timeout', error: new ServerError(grpc.status.ABORTED, 'Timeout') };
    case 'busy':
      return { kind: 'refused', reason: 'busy', error: new ServerError(grpc.status.UNAVAILABLE, 'Server Is Busy') };
    case 'access-denied':
      return { kind: 'refused', reason: 'access-denied', error: accessDenied() };
    default:
      return { kind: 'broken', error: brokenBy(fault) };
  }
}

/** The status of a call that fails as a whole. */
export function brokenBy(fault: Extract<Fault, { kind: 'unavailable' | 'cancelled' | 'not-leader' }>): ServerError {
  switch (fault.kind) {
    case 'unavailable':
      return new ServerError(grpc.status.UNAVAILABLE, 'The server is not available.');
    case 'cancelled':
      return new ServerError(grpc.status.CANCELLED, 'The call was cancelled by the server.');
    case 'not-leader':
      return notLeader(fault.host, fault.port);
  }
}
