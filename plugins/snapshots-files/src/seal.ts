import { hash } from 'node:crypto';

const OPENING = ',"seal":"';
/** `,"seal":"<64 hex>"}` and a line end. */
const LENGTH = OPENING.length + 64 + 3;

/** The longest end of a file that has to be read to see whether it is sealed. */
export const SEAL_BYTES = LENGTH;

/**
 * A snapshot as its file has it: the JSON text with one member more, which comes last and is the SHA-256 of the key and
 * of what is before it. So the file is JSON that other programs read, and no byte of it can change unnoticed.
 */
export function sealed(key: string, text: string): string {
  const open = text.slice(0, -1);
  return `${open}${OPENING}${sealOf(key, open)}"}\n`;
}

/** The text that was sealed; `undefined` for what was not, or is not what was written. */
export function unsealed(key: string, file: string): string | undefined {
  if (!endsSealed(file)) return undefined;
  const open = file.slice(0, -LENGTH);
  const seal = file.slice(-LENGTH + OPENING.length, -3);
  return seal === sealOf(key, open) ? `${open}}` : undefined;
}

/** Whether a text ends as a sealed file does. */
export function endsSealed(end: string): boolean {
  return end.endsWith('"}\n') && end.startsWith(OPENING, end.length - LENGTH);
}

function sealOf(key: string, open: string): string {
  return hash('sha256', `${JSON.stringify(key)}\n${open}`, 'hex');
}
