import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileFailure, quoted } from '../failure.js';
import type { OpenedFile } from '../root/directory.js';

/** The most bytes of a file that a tool takes into memory. */
export const LARGEST_FILE = 64 * 1024 * 1024;

const PIECE = 1024 * 1024;
/** Room for what was added to a file since its size was asked. */
const SPARE = 64 * 1024;

export interface FileContent {
  readonly bytes: Buffer;
  /** 64 hex digits. */
  readonly sha256: string;
  /** What the file looked like when it was opened. */
  readonly stats: Stats;
}

/**
 * Reads a whole file.
 *
 * @throws FileFailure `file_too_large`
 */
export async function readContent({ handle, stats }: OpenedFile, given: string): Promise<FileContent> {
  if (stats.size > LARGEST_FILE) throw tooLarge(given);
  const pieces: Buffer[] = [];
  const hash = createHash('sha256');
  let size = 0;
  for (;;) {
    const left = stats.size - size;
    const piece = Buffer.allocUnsafe(Math.min(PIECE, left > 0 ? left + 1 : SPARE));
    const { bytesRead } = await handle.read(piece, 0, piece.length, size);
    if (bytesRead === 0) break;
    const part = piece.subarray(0, bytesRead);
    hash.update(part);
    pieces.push(part);
    size += bytesRead;
    if (size > LARGEST_FILE) throw tooLarge(given);
  }
  const only = pieces.length === 1 ? pieces[0] : undefined;
  return { bytes: only ?? Buffer.concat(pieces, size), sha256: hash.digest('hex'), stats };
}

/** The digest of a file's content, 64 hex digits. Large contents are taken in pieces, with room for other work. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += PIECE) {
    if (from > 0) await setImmediate();
    hash.update(bytes.subarray(from, from + PIECE));
  }
  return hash.digest('hex');
}

/** Whether a name still has the very file, unchanged, that was read. */
export function isUnchanged(seen: Stats, now: Stats): boolean {
  return (
    seen.ino === now.ino &&
    seen.dev === now.dev &&
    seen.size === now.size &&
    seen.mtimeMs === now.mtimeMs &&
    seen.ctimeMs === now.ctimeMs
  );
}

function tooLarge(given: string): Error {
  return fileFailure('file_too_large', `${quoted(given)} is larger than ${LARGEST_FILE} bytes.`);
}
