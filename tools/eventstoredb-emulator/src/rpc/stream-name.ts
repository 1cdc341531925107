import type { StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { invalidArgument } from './server-error.js';

/** Throws a status when the request names no stream. */
export function streamNameOf(identifier: StreamIdentifier | undefined): string {
  const name = identifier === undefined ? '' : Buffer.from(identifier.getStreamName_asU8()).toString('utf8');
  if (name === '') throw invalidArgument('Required field StreamIdentifier not set.');
  return name;
}

export function identifierOf(stream: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(stream, 'utf8')));
}
