import { crc32 } from 'node:zlib';

/** What stands before the bytes of a frame: their number and their checksum. */
const HEADER_BYTES = 8;

export type FrameAt =
  | { readonly kind: 'frame'; readonly bytes: Buffer; readonly end: number }
  /** The file ends inside of the frame: it was being written when the process died. */
  | { readonly kind: 'torn' }
  /** All of the frame is there, and it is not what was written. */
  | { readonly kind: 'damaged' };

export function encodeFrame(bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.byteLength);
  frame.writeUInt32BE(bytes.byteLength, 0);
  frame.writeUInt32BE(crc32(bytes), 4);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export function frameAt(file: Buffer, offset: number): FrameAt {
  if (offset + HEADER_BYTES > file.length) return { kind: 'torn' };
  const end = offset + HEADER_BYTES + file.readUInt32BE(offset);
  if (end > file.length) return { kind: 'torn' };
  const bytes = file.subarray(offset + HEADER_BYTES, end);
  if (crc32(bytes) === file.readUInt32BE(offset + 4)) return { kind: 'frame', bytes, end };
  // A file system may make room for the last frame before it writes it.
  return end === file.length ? { kind: 'torn' } : { kind: 'damaged' };
}
