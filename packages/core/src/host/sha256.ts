import { hash } from 'node:crypto';

/** Lower-case hex SHA-256 of the UTF-8 bytes of a text. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** How artifacts are addressed: `sha256:<64 hex>` of the bytes. */
export function digestOfBytes(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

/** The same as facts and artifacts write digests: `sha256:<64 hex>`. */
export function digestOf(text: string): string {
  return `sha256:${sha256(text)}`;
}
