import { encodingSign, textBytes, type Encoding } from '../text/encoding.js';
import { scanLines } from '../text/line-window.js';

/** What write and edit tell about a file. It follows from the content alone, so it can be told again after a crash. */
export type FileDescription = {
  readonly file_path: string;
  readonly encoding: Encoding;
  readonly total_bytes: number;
  readonly total_lines: number;
  readonly sha256: string;
};

export async function describeFile(filePath: string, bytes: Buffer, sha256: string): Promise<FileDescription> {
  const text = textBytes(bytes);
  const { totalLines } = await scanLines(typeof text === 'string' ? bytes : text, 0);
  return {
    file_path: filePath,
    encoding: encodingSign(bytes).encoding,
    total_bytes: bytes.length,
    total_lines: totalLines,
    sha256,
  };
}
