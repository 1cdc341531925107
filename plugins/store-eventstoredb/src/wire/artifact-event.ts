import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { NewEvent, StoredEvent } from '../client/connection.js';

/** The first byte of the metadata of an artifact's events. It is neither JSON nor the mark of a fact. */
const ARTIFACT = 0x03;

const whole = z.int().min(0);
const piece = z.object({ first: whole, size: whole, chunkBytes: z.int().min(1) });
const metadata = z.discriminatedUnion('kind', [
  piece.extend({ kind: z.literal('chunk'), number: whole, seal: whole }),
  piece.extend({ kind: z.literal('whole') }),
  z.object({ kind: z.literal('deleted') }),
]);

/** What the events of one writing of an artifact agree on. */
export interface Writing {
  /** The revision of its first chunk. */
  readonly first: number;
  /** Bytes of the whole artifact, and of each chunk but the last. */
  readonly size: number;
  readonly chunkBytes: number;
}

/**
 * One event of an artifact's stream. Chunks follow each other, and `whole` follows the last: what comes last in the
 * stream tells whether the artifact is there.
 */
export type ArtifactEvent =
  | ({ readonly kind: 'chunk'; readonly number: number; readonly seal: number } & Writing)
  | ({ readonly kind: 'whole' } & Writing)
  | { readonly kind: 'deleted' };

const TYPES = { chunk: 'ArtifactChunk', whole: 'ArtifactWhole', deleted: 'ArtifactDeleted' } as const;

/** The events of one place always have the same ids: who writes the same at the same place has written it. */
export function chunkEvent(stream: string, writing: Writing, number: number, bytes: Uint8Array): NewEvent {
  const { first, chunkBytes } = writing;
  const chunk = bytes.subarray(number * chunkBytes, (number + 1) * chunkBytes);
  const seal = crc32(chunk, crc32(String(number)));
  return eventOf({ kind: 'chunk', ...writing, number, seal }, idOf(stream, first + number, 'chunk', chunkBytes), chunk);
}

export function wholeEvent(stream: string, writing: Writing): NewEvent {
  const place = writing.first + chunksOf(writing);
  return eventOf({ kind: 'whole', ...writing }, idOf(stream, place, 'whole', writing.chunkBytes));
}

export function deletedEvent(stream: string, revision: number): NewEvent {
  return eventOf({ kind: 'deleted' }, idOf(stream, revision, 'deleted', 0));
}

export function chunksOf({ size, chunkBytes }: Writing): number {
  return Math.ceil(size / chunkBytes);
}

/** `undefined` when the event is not one of an artifact. */
export function artifactEventOf({ metadata: bytes }: StoredEvent): ArtifactEvent | undefined {
  if (bytes[0] !== ARTIFACT) return undefined;
  try {
    const parsed = metadata.safeParse(JSON.parse(new TextDecoder().decode(bytes.subarray(1))));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isSealed(bytes: Uint8Array, number: number, seal: number): boolean {
  return crc32(bytes, crc32(String(number))) === seal;
}

function eventOf(event: ArtifactEvent, id: string, data: Uint8Array = new Uint8Array()): NewEvent {
  const text = new TextEncoder().encode(JSON.stringify(event));
  const marked = new Uint8Array(text.length + 1);
  marked[0] = ARTIFACT;
  marked.set(text, 1);
  return { id, type: TYPES[event.kind], data, metadata: marked };
}

/** A UUID of version 8: made of a digest. */
function idOf(stream: string, revision: number, kind: string, chunkBytes: number): string {
  const digest = createHash('sha256').update(`${stream} ${revision} ${kind} ${chunkBytes}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
