import type grpc from '@grpc/grpc-js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { ProposedEvent } from '../log/transaction.js';
import type { AppendOutcome } from '../streams/database.js';
import type { ExpectedRevision } from '../streams/expected-revision.js';
import { badRequestStatus, conflictStatus, deletedStatus, refusedStatus, tooLargeStatus } from './batch-status.js';
import { textOfId } from './event-id.js';
import { expectedRevisionOf } from './expected-revision.js';
import type { Parts } from './parts.js';
import { proposedEventOf } from './proposed-event.js';
import { allPosition } from './read-response.js';
import { ServerError } from './server-error.js';
import { identifierOf, streamNameOf } from './stream-name.js';
import { statusOf } from './unary-call.js';
import { writeUnder } from './write-under-fault.js';

type Call = grpc.ServerDuplexStream<BatchAppendReq, BatchAppendResp>;

/** An append whose parts are still coming. */
interface Pending {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly events: ProposedEvent[];
}

/** BatchAppend: one long call for many appends, told apart by the ids that the client gives them. */
export function batchAppendCall(parts: Parts): grpc.handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> {
  return (call) => {
    const pending = new Map<string, Pending>();
    const unanswered = new Set<() => void>();
    const endAll = (): void => {
      for (const ended of unanswered) ended();
      unanswered.clear();
    };
    call.on('data', (message: BatchAppendReq) => {
      const id = textOfId(message.getCorrelationId());
      try {
        const append = collect(pending, id, message);
        if (append === undefined) return;
        const ended = parts.calls.begin('append');
        unanswered.add(ended);
        void answer(parts, call, message, append).then((isAnswered) => {
          if (!isAnswered) return;
          ended();
          unanswered.delete(ended);
        });
      } catch (error) {
        pending.delete(id);
        const { details } = statusOf(error);
        send(call, responseTo(message, '').setError(badRequestStatus(details)));
      }
    });
    call.on('end', () => call.end());
    call.on('cancelled', endAll);
    call.on('close', endAll);
  };
}

/** Adds a part; the append when it was the last one. */
function collect(pending: Map<string, Pending>, id: string, message: BatchAppendReq): Pending | undefined {
  const options = message.getOptions();
  if (options !== undefined) {
    const revision = options.hasStreamPosition() ? options.getStreamPosition() : undefined;
    pending.set(id, {
      stream: streamNameOf(options.getStreamIdentifier()),
      expected: expectedRevisionOf(options, revision),
      deadline: options.getDeadline()?.toDate().getTime() ?? Infinity,
      events: [],
    });
  }
  const append = pending.get(id);
  append?.events.push(...message.getProposedMessagesList().map(proposedEventOf));
  if (!message.getIsFinal()) return undefined;
  pending.delete(id);
  return append;
}

/** Whether the client was told anything. */
async function answer(parts: Parts, call: Call, message: BatchAppendReq, append: Pending): Promise<boolean> {
  const { stream, expected, deadline, events } = append;
  const response = responseTo(message, stream);
  try {
    if (deadline < Date.now()) return send(call, response.setError(refusedStatus('timeout')));
    parts.access.check(call.metadata, stream, 'write');
    const end = await writeUnder(parts.faults.take('append', stream), call.getPeer(), parts, () =>
      parts.database.append(stream, expected, events),
    );
    if (end.kind === 'silence') return false;
    if (end.kind === 'answer') return send(call, withOutcome(response, append, end.answer));
    if (end.kind === 'refused') return send(call, response.setError(refusedStatus(end.reason)));
    if (end.kind === 'end') call.end();
    else call.emit('error', end.error);
  } catch (error) {
    if (error instanceof ServerError) return send(call, response.setError(refusedStatus('access-denied')));
    call.emit('error', statusOf(error));
  }
  return true;
}

function responseTo(message: BatchAppendReq, stream: string): BatchAppendResp {
  const response = new streams.BatchAppendResp().setCorrelationId(message.getCorrelationId());
  return response.setStreamIdentifier(identifierOf(stream));
}

function withOutcome(
  response: BatchAppendResp,
  { stream, expected }: Pending,
  outcome: AppendOutcome,
): BatchAppendResp {
  switch (outcome.kind) {
    case 'deleted':
      return response.setError(deletedStatus(stream));
    case 'too-large':
      return response.setError(tooLargeStatus(outcome.limit));
    case 'wrong-expected-revision':
      return response.setError(conflictStatus(expected, outcome.actual));
    case 'appended': {
      const success = new streams.BatchAppendResp.Success();
      if (outcome.head < 0) success.setNoStream(new empty.Empty());
      else success.setCurrentRevision(String(outcome.head));
      if (outcome.position === undefined) success.setNoPosition(new empty.Empty());
      else success.setPosition(allPosition(outcome.position));
      return response.setSuccess(success);
    }
  }
}

function send(call: Call, response: BatchAppendResp): true {
  if (!call.cancelled && !call.destroyed) call.write(response);
  return true;
}
