import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface DecodedText {
  readonly encoding: Encoding;
  /** Whether the file begins with a byte order mark, which is not part of the text. */
  readonly bom: boolean;
  readonly text: string;
}

/** Why bytes are not text: they hold NUL characters, or they are not valid in their encoding. */
export type NotText = 'binary' | 'invalid';

export interface EncodingSign {
  readonly encoding: Encoding;
  /** Bytes of the byte order mark; 0 when there is none. */
  readonly bomBytes: 0 | 2 | 3;
}

/** UTF-16 is known by its byte order mark; all else is taken for UTF-8. */
export function encodingSign(bytes: Uint8Array): EncodingSign {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', bomBytes: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', bomBytes: 2 };
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return { encoding: 'utf-8', bomBytes: hasMark ? 3 : 0 };
}

/** The text as UTF-8 without a byte order mark. UTF-8 is not copied. */
export function textBytes(bytes: Buffer): Buffer | NotText {
  const { encoding, bomBytes } = encodingSign(bytes);
  const body = bytes.subarray(bomBytes);
  if (encoding === 'utf-8') {
    if (body.includes(0)) return 'binary';
    return isUtf8(body) ? body : 'invalid';
  }
  const text = utf16Text(body, encoding);
  if (text === undefined) return 'invalid';
  return text.includes('\0') ? 'binary' : Buffer.from(text);
}

export function decodeText(bytes: Buffer): DecodedText | NotText {
  const { encoding, bomBytes } = encodingSign(bytes);
  const utf8 = textBytes(bytes);
  return typeof utf8 === 'string' ? utf8 : { encoding, bom: bomBytes > 0, text: utf8.toString('utf8') };
}

/** The inverse of `decodeText`: equal bytes for an equal text. */
export function encodeText(decoded: DecodedText): Buffer {
  const text = decoded.bom ? `\ufeff${decoded.text}` : decoded.text;
  if (decoded.encoding === 'utf-8') return Buffer.from(text);
  const bytes = Buffer.from(text, 'utf16le');
  return decoded.encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

/** UTF-16 as UTF-8, with a replacement character for what is not valid. */
export function readableBytes(bytes: Buffer): Buffer {
  const { encoding, bomBytes } = encodingSign(bytes);
  const body = bytes.subarray(bomBytes);
  if (encoding === 'utf-8') return body;
  return Buffer.from(new TextDecoder(encoding, { ignoreBOM: true }).decode(body));
}

function utf16Text(body: Buffer, encoding: 'utf-16le' | 'utf-16be'): string | undefined {
  if (body.length % 2 !== 0) return undefined;
  const little = encoding === 'utf-16le' ? body : Buffer.from(body).swap16();
  try {
    return new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }).decode(little);
  } catch {
    return undefined;
  }
}

/** Whether a text has half of a surrogate pair, which no encoding can keep. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\uD800-\uDFFF]/u.test(text);
}
