/**
 * Keys of rows and snapshots as bytes whose order is the order of their code units. UTF-8 has another one: it puts
 * characters beyond U+FFFF behind U+E000 to U+FFFF.
 */
export function keyBytes(key: string): Uint8Array {
  return Buffer.from(key, 'utf16le').swap16();
}

export function keyText(bytes: Uint8Array): string {
  return Buffer.from(bytes).swap16().toString('utf16le');
}
