import type grpc from '@grpc/grpc-js';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../log/transaction.js';
import type { AppendOutcome } from '../streams/database.js';
import type { ExpectedRevision } from '../streams/expected-revision.js';
import { expectedRevisionOf } from './expected-revision.js';
import type { Parts } from './parts.js';
import { proposedEventOf } from './proposed-event.js';
import { appendTooLarge, invalidArgument, streamDeleted } from './server-error.js';
import { streamNameOf } from './stream-name.js';
import { answerCall, statusOf } from './unary-call.js';

interface Request {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
}

/** Append: one call for one append, first its options and then its events. */
export function appendCall(parts: Parts): grpc.handleClientStreamingCall<AppendReq, AppendResp> {
  return (call, callback) => {
    const messages: AppendReq[] = [];
    call.on('data', (message: AppendReq) => messages.push(message));
    call.on('end', () => {
      try {
        const { stream, expected, events } = requestOf(messages);
        const about = { operation: 'append', stream: () => stream } as const;
        void answerCall(parts, about, call, callback, async () => {
          parts.access.check(call.metadata, stream, 'write');
          return responseOf(stream, expected, await parts.database.append(stream, expected, events));
        });
      } catch (error) {
        callback(statusOf(error));
      }
    });
  };
}

function requestOf(messages: readonly AppendReq[]): Request {
  const options = messages[0]?.getOptions();
  if (options === undefined) throw invalidArgument('The first message must have options.');
  const revision = options.hasRevision() ? options.getRevision() : undefined;
  return {
    stream: streamNameOf(options.getStreamIdentifier()),
    expected: expectedRevisionOf(options, revision),
    events: messages.flatMap((message) => {
      const proposed = message.getProposedMessage();
      return proposed === undefined ? [] : [proposedEventOf(proposed)];
    }),
  };
}

function responseOf(stream: string, expected: ExpectedRevision, outcome: AppendOutcome): AppendResp {
  switch (outcome.kind) {
    case 'deleted':
      throw streamDeleted(stream);
    case 'too-large':
      throw appendTooLarge(outcome.limit);
    case 'wrong-expected-revision':
      return new streams.AppendResp().setWrongExpectedVersion(conflict(expected, outcome.actual));
    case 'appended': {
      const success = new streams.AppendResp.Success();
      if (outcome.head < 0) success.setNoStream(new shared.Empty());
      else success.setCurrentRevision(String(outcome.head));
      if (outcome.position === undefined) success.setNoPosition(new shared.Empty());
      else {
        const position = new streams.AppendResp.Position();
        position.setCommitPosition(String(outcome.position)).setPreparePosition(String(outcome.position));
        success.setPosition(position);
      }
      return new streams.AppendResp().setSuccess(success);
    }
  }
}

function conflict(expected: ExpectedRevision, actual: number): AppendResp.WrongExpectedVersion {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (actual < 0) message.setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision(String(actual));
  if (expected === 'any') message.setExpectedAny(new shared.Empty());
  else if (expected === 'stream-exists') message.setExpectedStreamExists(new shared.Empty());
  else if (expected === 'no-stream') message.setExpectedNoStream(new shared.Empty());
  else message.setExpectedRevision(String(expected));
  return message;
}
