/** Reads a range. Throws when the bytes are gone. */
export type ByteSource = (from: number, to: number) => Promise<Uint8Array>;

/** A part of a text, which begins and ends between characters. */
export interface TextWindow {
  readonly content: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Up to `size` bytes from an offset on. A character that the bounds would cut belongs to the part that it begins in.
 */
export async function readWindow(source: ByteSource, offset: number, size: number): Promise<TextWindow> {
  // The rest of a character that was begun before, and of one that begins at the end.
  const bytes = await source(offset, offset + size + 3);
  const start = firstWhole(bytes, 0);
  const end = bytes.byteLength <= size ? bytes.byteLength : firstWhole(bytes, size);
  return { content: textOf(bytes.subarray(start, end)), from: offset + start, to: offset + end };
}

/** The first place from `at` on where a character begins. */
export function firstWhole(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place < bytes.byteLength && ((bytes[place] ?? 0) & 0xc0) === 0x80) place++;
  return place;
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
