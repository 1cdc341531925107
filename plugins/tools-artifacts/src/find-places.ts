import { firstWhole, textOf, type ByteSource } from './text-window.js';

const WINDOW = 1024 * 1024;
const MOST = 50;
/** Bytes that are shown before and behind a place. */
const AROUND = 80;

export interface Place {
  readonly offset: number;
  /** The text with a little of what stands around it. */
  readonly text: string;
}

export interface Search {
  readonly text: string;
  readonly offset: number;
  /** Bytes of the whole. */
  readonly total: number;
}

/** Where a text stands, window by window, and where to look further when there may be more. */
export async function findPlaces(
  source: ByteSource,
  { text, offset, total }: Search,
  signal: AbortSignal,
): Promise<{ readonly places: readonly Place[]; readonly next: number | undefined }> {
  const wanted = Buffer.from(text);
  const places: Place[] = [];
  for (let from = offset; from < total; from += WINDOW) {
    signal.throwIfAborted();
    const before = Math.min(from, AROUND);
    // Windows overlap: a place may be at the joint.
    const read = await source(from - before, from + WINDOW + wanted.byteLength - 1 + AROUND);
    const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
    const end = Math.min(before + WINDOW, bytes.byteLength);
    let at = bytes.indexOf(wanted, before);
    while (at >= 0 && at < end) {
      const place = from - before + at;
      if (places.length === MOST) return { places, next: place };
      places.push({ offset: place, text: around(bytes, at, wanted.byteLength) });
      at = bytes.indexOf(wanted, at + wanted.byteLength);
    }
  }
  return { places, next: undefined };
}

function around(bytes: Uint8Array, at: number, length: number): string {
  const start = firstWhole(bytes, Math.max(0, at - AROUND));
  return textOf(bytes.subarray(start, firstWhole(bytes, Math.min(bytes.byteLength, at + length + AROUND))));
}
