import grpc from '@grpc/grpc-js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../faults/fault.js';
import { allFeed, streamFeed } from '../reads/feed.js';
import { follow } from '../reads/follow.js';
import { resolveLink, type ResolvedEvent } from '../reads/link.js';
import { readAll, readStream } from '../reads/read-events.js';
import type { StoredEvent } from '../streams/stored-event.js';
import type { StreamIndex } from '../streams/stream-index.js';
import type { Parts } from './parts.js';
import { ALL, readRequestOf, type ReadRequest } from './read-request.js';
import * as response from './read-response.js';
import { accessDenied, ServerError, streamDeleted } from './server-error.js';
import { statusOf } from './unary-call.js';
import { brokenBy } from './write-under-fault.js';

type Call = grpc.ServerWritableStream<ReadReq, ReadResp>;

/** Read: pages of a stream or of all, and subscriptions to them. */
export function readCall(parts: Parts): grpc.handleServerStreamingCall<ReadReq, ReadResp> {
  return (call) => {
    void answer(parts, call).catch((error: unknown) => call.emit('error', statusOf(error)));
  };
}

async function answer(parts: Parts, call: Call): Promise<void> {
  const request = readRequestOf(call.request);
  const operation = request.limit === undefined ? 'subscribe' : 'read';
  const ended = parts.calls.begin(operation);
  const over = new AbortController();
  const end = (): void => {
    ended();
    over.abort();
  };
  call.on('cancelled', end);
  call.on('close', end);
  parts.stopping.addEventListener('abort', end, { signal: over.signal });
  try {
    parts.access.check(call.metadata, request.stream, 'read');
    const fault = parts.faults.take(operation, request.stream);
    if (fault !== undefined && (await begin(fault, over.signal)) === 'refused') return;
    const { index } = parts.database;
    const messages = request.limit === undefined ? subscription(index, request, over.signal) : page(index, request);
    const isWhole = await send(call, messages, over.signal, fault);
    if (fault !== undefined && !isWhole) return strike(fault, parts, call);
    call.end();
  } catch (error) {
    ended();
    throw error;
  }
}

/** What a fault does before anything is read. */
async function begin(fault: Fault, signal: AbortSignal): Promise<'goes-on' | 'refused'> {
  if (fault.kind === 'slow' || fault.kind === 'late-answer') {
    await delay(fault.ms, undefined, { signal, ref: false }).catch(() => undefined);
    return signal.aborted ? 'refused' : 'goes-on';
  }
  if (fault.kind === 'access-denied') throw accessDenied();
  if (fault.kind === 'not-leader') throw brokenBy(fault);
  if (fault.kind === 'busy') throw brokenBy({ kind: 'unavailable', committed: false, afterEvents: 0 });
  if (fault.kind === 'timeout') throw new ServerError(grpc.status.ABORTED, 'Timeout');
  return 'goes-on';
}

/** What a fault does when its call has been given the events that it lets through. */
function strike(fault: Fault, { cut }: Parts, call: Call): void {
  if (fault.kind === 'cut') cut(call.getPeer());
  else if (fault.kind === 'end') call.end();
  else if (fault.kind === 'unavailable' || fault.kind === 'cancelled') call.emit('error', brokenBy(fault));
  // Without an answer the call stays open, and silent.
}

/** Writes at the pace of the client. Not whole when the fault lets no more events through. */
async function send(
  call: Call,
  messages: AsyncIterable<ReadResp> | Iterable<ReadResp>,
  signal: AbortSignal,
  fault: Fault | undefined,
): Promise<boolean> {
  let left = fault !== undefined && 'afterEvents' in fault ? fault.afterEvents : Infinity;
  if (left === 0) return false;
  for await (const message of messages) {
    if (signal.aborted) return true;
    if (!call.write(message)) await once(call, 'drain', { signal }).catch(() => undefined);
    if (message.hasEvent()) left -= 1;
    if (left === 0) return false;
  }
  return true;
}

function* page(index: StreamIndex, request: ReadRequest): Generator<ReadResp> {
  const { stream, from, direction, limit = 0, filter } = request;
  if (stream !== ALL) {
    if (index.isTombstoned(stream, 'published')) throw streamDeleted(stream);
    if (!index.exists(stream)) return yield response.streamNotFoundResponse(stream);
  }
  const events = stream === ALL ? readAll(index, from, direction, filter) : readStream(index, stream, from, direction);
  let left = limit;
  if (left <= 0) return;
  for (const event of events) {
    yield response.eventResponse(resolved(index, event, request));
    left -= 1;
    if (left <= 0) return;
  }
}

async function* subscription(index: StreamIndex, request: ReadRequest, signal: AbortSignal): AsyncGenerator<ReadResp> {
  const { stream, from, filter, checkpointEvery } = request;
  if (stream !== ALL && index.isTombstoned(stream, 'published')) throw streamDeleted(stream);
  const feed = stream === ALL ? allFeed(index, from) : streamFeed(index, stream, from);
  const begin = from === 'start' ? 0 : from === 'end' ? (index.at(index.count - 1)?.position ?? 0) : from;
  const options = { ...(filter !== undefined && { filter }), checkpointEvery, begin };
  yield response.confirmationResponse(randomUUID());
  for await (const followed of follow(feed, index.published, options, signal)) {
    switch (followed.kind) {
      case 'event':
        yield response.eventResponse(resolved(index, followed.event, request));
        break;
      case 'checkpoint':
        yield response.checkpointResponse(followed.position);
        break;
      case 'caught-up':
        yield response.caughtUpResponse();
        break;
      case 'over':
        throw streamDeleted(stream);
    }
  }
}

function resolved(index: StreamIndex, event: StoredEvent, { resolvesLinks }: ReadRequest): ResolvedEvent {
  return resolvesLinks ? resolveLink(index, event) : { event };
}
