import { isTextType } from '@perdure/plugin-api';

/** Bytes and what they show themselves to be. */
export interface KnownBytes {
  readonly mediaType: string;
  /** The text that they are, when they are one. */
  readonly text: string | undefined;
  /** Whether `bytes` are the text in UTF-8, and not in another encoding. */
  readonly isUtf8: boolean;
}

interface Sign {
  readonly type: string;
  readonly at: number;
  readonly hex: string;
}

/** How the formats begin that providers and people ask for most. */
const SIGNS: readonly Sign[] = [
  { type: 'image/png', at: 0, hex: '89504e470d0a1a0a' },
  { type: 'image/jpeg', at: 0, hex: 'ffd8ff' },
  { type: 'image/gif', at: 0, hex: '474946383761' },
  { type: 'image/gif', at: 0, hex: '474946383961' },
  { type: 'image/webp', at: 8, hex: '57454250' },
  { type: 'audio/wav', at: 8, hex: '57415645' },
  { type: 'image/bmp', at: 0, hex: '424d' },
  { type: 'image/tiff', at: 0, hex: '49492a00' },
  { type: 'image/tiff', at: 0, hex: '4d4d002a' },
  { type: 'image/avif', at: 4, hex: '6674797061766966' },
  { type: 'image/heic', at: 4, hex: '6674797068656963' },
  { type: 'video/mp4', at: 4, hex: '66747970' },
  { type: 'audio/mpeg', at: 0, hex: '494433' },
  { type: 'audio/ogg', at: 0, hex: '4f676753' },
  { type: 'application/pdf', at: 0, hex: '255044462d' },
  { type: 'application/zip', at: 0, hex: '504b0304' },
  { type: 'application/gzip', at: 0, hex: '1f8b' },
];

const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,127}$/;

/** The type alone, in lower case; `undefined` when it is none. */
export function readMediaType(given: string): string | undefined {
  const type = given.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return TYPE.test(type) ? type : undefined;
}

/**
 * What bytes are. A text is one whatever was said of it; of other bytes their beginning is believed before what was
 * said, and what was said only where it cannot be tested.
 */
export function knownBytes(bytes: Uint8Array, given: string | undefined): KnownBytes {
  const decoded = decode(bytes);
  const sign = signOf(bytes);
  if (decoded !== undefined && sign !== 'application/pdf') {
    const mediaType = given !== undefined && isTextType(given) ? given : 'text/plain';
    return { mediaType, ...decoded };
  }
  return { mediaType: binaryType(sign, given), text: undefined, isUtf8: false };
}

function binaryType(sign: string | undefined, given: string | undefined): string {
  const isOpen = given !== undefined && !isTextType(given) && !SIGNS.some(({ type }) => type === given);
  // Documents of many kinds are archives.
  if (sign !== undefined) return sign === 'application/zip' && isOpen && isApplication(given) ? given : sign;
  return isOpen && isApplication(given) ? given : 'application/octet-stream';
}

function isApplication(type: string): boolean {
  return type.startsWith('application/');
}

function signOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 32)).toString('hex');
  return SIGNS.find(({ at, hex }) => head.startsWith(hex, at * 2))?.type;
}

function decode(bytes: Uint8Array): { readonly text: string; readonly isUtf8: boolean } | undefined {
  const wide = wideEncoding(bytes);
  try {
    const text = new TextDecoder(wide ?? 'utf-8', { fatal: true, ignoreBOM: wide === undefined }).decode(bytes);
    return text.includes('\0') ? undefined : { text, isUtf8: wide === undefined };
  } catch {
    return undefined;
  }
}

/** By its byte order mark: a text in UTF-16 has one. */
function wideEncoding([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}
