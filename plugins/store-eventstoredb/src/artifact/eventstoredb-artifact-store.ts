import { createHash } from 'node:crypto';
import { artifactStream } from '@perdure/events';
import { PerdureError, type ArtifactStore, type ByteRange } from '@perdure/plugin-api';
import { checkRange } from '@perdure/plugin-api/store-input';
import { unavailable } from '../append/append-batch.js';
import { chunksOf, chunkEvent, isSealed, wholeEvent, type Writing } from '../wire/artifact-event.js';
import { eventIn, type ArtifactLog, type LastEvent } from './artifact-log.js';

/** Bytes of one chunk, and chunks that are read at once. */
const CHUNK = 256 * 1024;
const CHUNKS_AT_ONCE = 16;
/** How often a write begins again because others delete the same bytes. */
const TRIES = 20;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Large bytes in streams of EventStoreDB, one for each tenant and digest, in chunks. */
export class EventStoreDbArtifactStore implements ArtifactStore {
  readonly name = 'eventstoredb';
  readonly limits: { readonly maxBytes: number };

  private readonly log: ArtifactLog;
  private readonly onClose: () => Promise<void>;
  private isClosed = false;

  constructor(log: ArtifactLog, maxBytes: number, onClose: () => Promise<void>) {
    this.log = log;
    this.limits = { maxBytes };
    this.onClose = onClose;
  }

  async put(tenant: string | undefined, given: Uint8Array): Promise<string> {
    this.checkOpen();
    const { maxBytes: limit } = this.limits;
    const size = given.byteLength;
    if (size > limit) throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: size, limit });
    // The caller may change its bytes while they are on their way.
    const bytes = Uint8Array.from(given);
    const digest = digestOf(bytes);
    const stream = artifactStream(tenant, digest);
    for (let tried = 1; tried <= TRIES; tried += 1) {
      const last = await this.log.last(stream);
      if (last?.event.kind === 'whole' || (await this.write(stream, bytes, last))) return digest;
    }
    throw unavailable(`others kept deleting the artifact "${digest}"`, undefined);
  }

  async get(tenant: string | undefined, digest: string, range: ByteRange = {}): Promise<Uint8Array | undefined> {
    this.checkOpen();
    checkRange(range);
    if (!DIGEST.test(digest)) return undefined;
    const stream = artifactStream(tenant, digest);
    const last = await this.log.last(stream);
    if (last?.event.kind !== 'whole') return undefined;
    const { event } = last;
    const to = Math.min(range.to ?? event.size, event.size);
    const from = Math.min(range.from ?? 0, to);
    const bytes = await this.bytes(stream, event, from, to);
    const isDamaged = bytes === undefined || (bytes.byteLength === event.size && digestOf(bytes) !== digest);
    if (!isDamaged) return bytes;
    // Deleted while it was read.
    if ((await this.log.last(stream))?.revision !== last.revision) return undefined;
    throw new PerdureError('PERDURE_STORE_DAMAGED', { reason: `the artifact "${digest}" is not what was written` });
  }

  async delete(tenant: string | undefined, digest: string): Promise<void> {
    this.checkOpen();
    if (!DIGEST.test(digest)) return;
    const stream = artifactStream(tenant, digest);
    // Each round that another one wins brings a writing nearer to its end.
    for (;;) {
      const last = await this.log.last(stream);
      if (last === undefined) return;
      // Who deleted it may have died before it was hidden.
      if (last.event.kind === 'deleted') return this.log.hide(stream, last.revision);
      if (await this.log.end(stream, last.revision + 1)) return;
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.onClose();
  }

  /** Goes on behind what comes last; false when others changed the stream meanwhile. */
  private async write(stream: string, bytes: Uint8Array, last: LastEvent | undefined): Promise<boolean> {
    const begun = last?.event.kind === 'chunk' ? last.event : undefined;
    const writing: Writing = {
      first: begun?.first ?? (last === undefined ? 0 : last.revision + 1),
      size: bytes.byteLength,
      chunkBytes: begun?.chunkBytes ?? CHUNK,
    };
    const end = chunksOf(writing);
    for (let number = begun === undefined ? 0 : begun.number + 1; ; number += 1) {
      const isLast = number >= end - 1;
      const events = [
        ...(number < end ? [chunkEvent(stream, writing, number, bytes)] : []),
        // With the last chunk: where it comes, all chunks are there.
        ...(isLast ? [wholeEvent(stream, writing)] : []),
      ];
      if (!(await this.log.append(stream, writing.first + Math.min(number, end), events))) return false;
      if (isLast) return true;
    }
  }

  /** `undefined` when a chunk is missing or not what was written. */
  private async bytes(stream: string, writing: Writing, from: number, to: number): Promise<Uint8Array | undefined> {
    const bytes = new Uint8Array(to - from);
    const { first, chunkBytes } = writing;
    const end = from === to ? 0 : Math.ceil(to / chunkBytes);
    let number = Math.floor(from / chunkBytes);
    while (number < end) {
      const events = await this.log.page(stream, first + number, Math.min(CHUNKS_AT_ONCE, end - number));
      if (events.length === 0) return undefined;
      for (const stored of events) {
        const event = eventIn(stored);
        const start = number * chunkBytes;
        const isExpected = event.kind === 'chunk' && event.number === number && stored.revision === first + number;
        const isFull = stored.data.byteLength === Math.min(chunkBytes, writing.size - start);
        if (!isExpected || !isFull || !isSealed(stored.data, number, event.seal)) return undefined;
        const part = stored.data.subarray(Math.max(from - start, 0), Math.max(to - start, 0));
        bytes.set(part, Math.max(start - from, 0));
        number += 1;
      }
    }
    return bytes;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
