const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const REPLACEMENT = '\uFFFD';

/**
 * What could change a terminal or how a text is read, but for tabs and line ends: control characters, signs that turn
 * the direction of writing, and halves of surrogate pairs.
 */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Bytes of a program as text: what is no UTF-8 is `\xff`, and what acts on a terminal is `\x1b` or `\u202e`. */
export function safeText(bytes: Buffer): string {
  return decode(bytes)
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE, (sign) => escaped(sign.charCodeAt(0)));
}

function decode(bytes: Buffer): string {
  const text = decoder.decode(bytes);
  if (!text.includes(REPLACEMENT)) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(decoder.decode(bytes.subarray(from, at)), `\\x${hex(bytes[at] ?? 0, 2)}`);
    at += 1;
    from = at;
  }
  parts.push(decoder.decode(bytes.subarray(from)));
  return parts.join('');
}

/** Bytes of the character that begins here; 0 when none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0;
  for (let index = 1; index < length; index++) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1] ?? 0;
  // Longer forms than needed, surrogates, and what is beyond Unicode.
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  return length;
}

function escaped(code: number): string {
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
