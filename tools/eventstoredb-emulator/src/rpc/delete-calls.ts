import type grpc from '@grpc/grpc-js';
import type { DeleteReq, DeleteResp, TombstoneReq, TombstoneResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { AppendOutcome } from '../streams/database.js';
import type { ExpectedRevision } from '../streams/expected-revision.js';
import { expectationNumber, expectedRevisionOf } from './expected-revision.js';
import type { Parts } from './parts.js';
import { appendTooLarge, invalidArgument, streamDeleted, wrongExpectedVersion } from './server-error.js';
import { streamNameOf } from './stream-name.js';
import { answerCall } from './unary-call.js';

interface Target {
  readonly stream: string;
  readonly expected: ExpectedRevision;
}

/** Delete: hides what a stream has. */
export function deleteCall(parts: Parts): grpc.handleUnaryCall<DeleteReq, DeleteResp> {
  return (call, callback) => {
    const about = { operation: 'delete', stream: () => targetOf(call.request).stream } as const;
    void answerCall(parts, about, call, callback, async () => {
      const { stream, expected } = targetOf(call.request);
      parts.access.check(call.metadata, stream, 'delete');
      const position = positionOf(stream, expected, await parts.database.softDelete(stream, expected));
      const message = new streams.DeleteResp.Position();
      message.setCommitPosition(position).setPreparePosition(position);
      return new streams.DeleteResp().setPosition(message);
    });
  };
}

/** Tombstone: ends a stream for ever. */
export function tombstoneCall(parts: Parts): grpc.handleUnaryCall<TombstoneReq, TombstoneResp> {
  return (call, callback) => {
    const about = { operation: 'tombstone', stream: () => targetOf(call.request).stream } as const;
    void answerCall(parts, about, call, callback, async () => {
      const { stream, expected } = targetOf(call.request);
      parts.access.check(call.metadata, stream, 'delete');
      const position = positionOf(stream, expected, await parts.database.tombstone(stream, expected));
      const message = new streams.TombstoneResp.Position();
      message.setCommitPosition(position).setPreparePosition(position);
      return new streams.TombstoneResp().setPosition(message);
    });
  };
}

function targetOf(request: DeleteReq | TombstoneReq): Target {
  const options = request.getOptions();
  if (options === undefined) throw invalidArgument('Required field Options not set.');
  const revision = options.hasRevision() ? options.getRevision() : undefined;
  return {
    stream: streamNameOf(options.getStreamIdentifier()),
    expected: expectedRevisionOf(options, revision),
  };
}

/** Throws the status of a refusal. */
function positionOf(stream: string, expected: ExpectedRevision, outcome: AppendOutcome): string {
  switch (outcome.kind) {
    case 'appended':
      return String(outcome.position ?? 0);
    case 'deleted':
      throw streamDeleted(stream);
    case 'too-large':
      throw appendTooLarge(outcome.limit);
    case 'wrong-expected-revision':
      throw wrongExpectedVersion(stream, expectationNumber(expected), outcome.actual);
  }
}
