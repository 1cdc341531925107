import { createHash } from 'node:crypto';
import { decodeRelayMessage, FactSieve, type RecordedFact } from '@perdure/events';
import type { TopicReader } from '../kafka/topic-reader.js';

/** The facts of a stream on the topic, each once and in order: what is needed to compare them. */
export interface StreamSide {
  readonly revisions: number[];
  /** Of the stored bytes; `undefined` for a stub. */
  readonly digests: (number | undefined)[];
  /** How many of them were met in the store. */
  met: number;
}

export interface TopicSide {
  readonly streams: ReadonlyMap<string, StreamSide>;
  readonly doubles: number;
  readonly gaps: number;
  readonly stubs: number;
  readonly unreadable: number;
  /** The highest position of a message. */
  readonly position: string | undefined;
  /** Some messages are past their retention. */
  readonly hasExpired: boolean;
}

/** Reads all that is on the topic and committed. Per fact a few bytes are kept. */
export async function readTopicSide(reader: TopicReader, topic: string, signal?: AbortSignal): Promise<TopicSide> {
  const streams = new Map<string, StreamSide>();
  const counts = { doubles: 0, gaps: 0, stubs: 0, unreadable: 0 };
  let position: string | undefined;
  const ranges = await reader.ranges(topic);
  const hasExpired = ranges.some(({ first }) => first > 0n);
  for (const range of ranges) {
    const sieve = new FactSieve({ complete: range.first === 0n });
    for await (const message of reader.read(topic, range, signal)) {
      const decoded = decodeRelayMessage(message);
      if (!decoded.ok) {
        counts.unreadable += 1;
        continue;
      }
      const { received } = decoded;
      if (position === undefined || received.position > position) position = received.position;
      const { kind } = sieve.take(received);
      if (kind === 'double') counts.doubles += 1;
      if (kind === 'gap') counts.gaps += 1;
      if (kind === 'double') continue;
      const { stream, revision, fact } = received;
      let side = streams.get(stream);
      if (side === undefined) streams.set(stream, (side = { revisions: [], digests: [], met: 0 }));
      side.revisions.push(revision);
      side.digests.push(fact === undefined ? undefined : factDigest(fact));
      if (fact === undefined) counts.stubs += 1;
    }
  }
  return { streams, ...counts, position, hasExpired };
}

/** 48 bits over the bytes of a fact and its place. */
export function factDigest({ stream, revision, position, id, type, payload, metadata }: RecordedFact): number {
  const text = [stream, revision, position, id, type, metadata, payload].join('\n');
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
