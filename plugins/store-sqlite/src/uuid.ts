/** Bytes of one id. */
export const ID_BYTES = 16;

const NO_DIGIT = 255;
const DASH = 45;
const TEXT_LENGTH = 36;
const DASHES = [8, 13, 18, 23];

/** Value of a lower-case hex digit by its character code. */
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (const [value, digit] of [...'0123456789abcdef'].entries()) DIGITS[digit.charCodeAt(0)] = value;

/** Writes a UUID as bytes. `false` when the text is not one in lower case, which is the only form that comes back. */
export function writeUuid(text: string, bytes: Uint8Array, offset: number): boolean {
  if (text.length !== TEXT_LENGTH) return false;
  for (const dash of DASHES) if (text.charCodeAt(dash) !== DASH) return false;
  let at = 0;
  for (let index = 0; index < ID_BYTES; index++) {
    if (text.charCodeAt(at) === DASH) at += 1;
    const high = DIGITS[text.charCodeAt(at)] ?? NO_DIGIT;
    const low = DIGITS[text.charCodeAt(at + 1)] ?? NO_DIGIT;
    if (high === NO_DIGIT || low === NO_DIGIT) return false;
    bytes[offset + index] = (high << 4) | low;
    at += 2;
  }
  return true;
}

/** The digits of a UUID without its dashes. */
export function uuidDigits(uuid: string): string {
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}

/** The UUID at a place of a text of hex digits without dashes. */
export function uuidAt(hex: string, index: number): string {
  const at = index * ID_BYTES * 2;
  const part = (from: number, to: number): string => hex.slice(at + from, at + to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
