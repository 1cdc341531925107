import grpc from '@grpc/grpc-js';
import type { Operation } from '../faults/fault.js';
import type { Parts } from './parts.js';
import { ServerError } from './server-error.js';
import { writeUnder } from './write-under-fault.js';

export interface UnaryCall {
  readonly cancelled: boolean;
  getPeer(): string;
  on(event: 'cancelled', listener: () => void): unknown;
}

/** Answers a call that has one answer: with what `write` returns, or with the status that it throws. */
export async function answerCall<Answer>(
  parts: Parts,
  { operation, stream }: { readonly operation: Operation; readonly stream: () => string },
  call: UnaryCall,
  callback: grpc.sendUnaryData<Answer>,
  write: () => Promise<Answer>,
): Promise<void> {
  const ended = parts.calls.begin(operation);
  call.on('cancelled', ended);
  try {
    const end = await writeUnder(parts.faults.take(operation, stream()), call.getPeer(), parts, write);
    if (end.kind === 'silence' || call.cancelled) return;
    ended();
    if (end.kind === 'answer') callback(null, end.answer);
    else if (end.kind === 'end') callback(new ServerError(grpc.status.UNKNOWN, 'The call ended without an answer.'));
    else callback(end.error);
  } catch (error) {
    ended();
    callback(statusOf(error));
  }
}

/** What went wrong without a status of its own is an error of the server. */
export function statusOf(error: unknown): ServerError {
  if (error instanceof ServerError) return error;
  const details = error instanceof Error ? error.message : String(error);
  return new ServerError(grpc.status.UNAVAILABLE, `The server failed: ${details}`);
}
