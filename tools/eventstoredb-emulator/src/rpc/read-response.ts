import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ResolvedEvent } from '../reads/link.js';
import type { StoredEvent } from '../streams/stored-event.js';
import { idOf } from './event-id.js';
import { identifierOf } from './stream-name.js';

/** The revision of a tombstone, and the position behind everything. */
const TOMBSTONE_REVISION = String(2n ** 63n - 1n);
/** Times of events are in units of 100 ns. */
const TICKS_PER_MS = 10_000n;

export function eventResponse({ event, link }: ResolvedEvent): ReadResp {
  const message = new streams.ReadResp.ReadEvent();
  if (event !== undefined) message.setEvent(recordedEvent(event));
  if (link !== undefined) message.setLink(recordedEvent(link));
  const original = link ?? event;
  if (original !== undefined) message.setCommitPosition(String(original.position));
  return new streams.ReadResp().setEvent(message);
}

export function confirmationResponse(subscriptionId: string): ReadResp {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId);
  return new streams.ReadResp().setConfirmation(confirmation);
}

export function checkpointResponse(position: number): ReadResp {
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(String(position)).setPreparePosition(String(position));
  return new streams.ReadResp().setCheckpoint(checkpoint);
}

export function caughtUpResponse(): ReadResp {
  return new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
}

export function streamNotFoundResponse(stream: string): ReadResp {
  const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream));
  return new streams.ReadResp().setStreamNotFound(notFound);
}

function recordedEvent(event: StoredEvent): ReadResp.ReadEvent.RecordedEvent {
  const { id, stream, revision, position, created, type, isJson, data, metadata } = event;
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(idOf(id))
    .setStreamIdentifier(identifierOf(stream))
    .setStreamRevision(revision === 'tombstone' ? TOMBSTONE_REVISION : String(revision))
    .setCommitPosition(String(position))
    .setPreparePosition(String(position))
    .setData(data)
    .setCustomMetadata(metadata);
  recorded
    .getMetadataMap()
    .set('type', type)
    .set('content-type', isJson ? 'application/json' : 'application/octet-stream')
    .set('created', String(BigInt(created) * TICKS_PER_MS));
  return recorded;
}

/** A position of the protocol, whose two numbers are the same for every event. */
export function allPosition(position: number): InstanceType<typeof shared.AllStreamPosition> {
  const message = new shared.AllStreamPosition();
  return message.setCommitPosition(String(position)).setPreparePosition(String(position));
}
