import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import type { Code } from '@eventstore/db-client/generated/code_pb.js';
import code from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { ExpectedRevision } from '../streams/expected-revision.js';
import { identifierOf } from './stream-name.js';

/** A message that can be packed into a status. */
interface Packable {
  serializeBinary(): Uint8Array;
}

export function conflictStatus(expected: ExpectedRevision, actual: number): Status {
  const details = new shared.WrongExpectedVersion();
  if (actual < 0) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(String(actual));
  if (expected === 'any') details.setExpectedAny(new empty.Empty());
  else if (expected === 'stream-exists') details.setExpectedStreamExists(new empty.Empty());
  else if (expected === 'no-stream') details.setExpectedNoStream(new empty.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return statusOf(code.Code.ALREADY_EXISTS, 'WrongExpectedVersion', details, 'event_store.client.WrongExpectedVersion');
}

export function deletedStatus(stream: string): Status {
  const details = new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream));
  return statusOf(code.Code.ALREADY_EXISTS, 'StreamDeleted', details, 'event_store.client.StreamDeleted');
}

export function tooLargeStatus(limit: number): Status {
  const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(limit);
  const type = 'event_store.client.MaximumAppendSizeExceeded';
  return statusOf(code.Code.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', details, type);
}

export function refusedStatus(reason: 'timeout' | 'busy' | 'access-denied'): Status {
  switch (reason) {
    case 'timeout':
      return statusOf(code.Code.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout(), 'event_store.client.Timeout');
    case 'access-denied':
      return statusOf(
        code.Code.PERMISSION_DENIED,
        'AccessDenied',
        new shared.AccessDenied(),
        'event_store.client.AccessDenied',
      );
    case 'busy':
      // The real server says it only in the message: clients do not know the details.
      return statusOf(code.Code.OK, 'Server Is Busy', new empty.Empty(), 'google.protobuf.Empty');
  }
}

export function badRequestStatus(message: string): Status {
  const details = new shared.BadRequest().setMessage(message);
  return statusOf(code.Code.INVALID_ARGUMENT, message, details, 'event_store.client.BadRequest');
}

function statusOf(codeNumber: Code, message: string, details: Packable, type: string): Status {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), type);
  return new status.Status().setCode(codeNumber).setMessage(message).setDetails(packed);
}
