import { readContent } from '../effect/file-version.js';
import type { OpenedFile } from '../root/directory.js';
import { encodingSign, readableBytes } from '../text/encoding.js';

/** Reads bytes of a text, as UTF-8 and without a byte order mark; fewer than asked for at its end. */
export type TextSource = (offset: number, length: number) => Promise<Buffer>;

const LONGEST_MARK = 3;

/** The text of an open file, in the bytes that the offsets of ripgrep count. */
export async function textSource(file: OpenedFile, path: string): Promise<TextSource> {
  const read: TextSource = async (offset, length) => {
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await file.handle.read(buffer, 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const { encoding, bomBytes } = encodingSign(await read(0, LONGEST_MARK));
  if (encoding === 'utf-8') return (offset, length) => read(offset + bomBytes, length);
  const text = readableBytes((await readContent(file, path)).bytes);
  return (offset, length) => Promise.resolve(text.subarray(offset, offset + length));
}
