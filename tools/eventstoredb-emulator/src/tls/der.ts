/** The pieces of DER that a certificate is made of. */

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(0x30, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(0x31, ...parts);
}

/** A positive number, big-endian. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return isNegative ? element(0x02, Uint8Array.of(0), bytes) : element(0x02, bytes);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Uint8Array.of(value ? 0xff : 0));
}

export function octets(...parts: readonly Uint8Array[]): Buffer {
  return element(0x04, ...parts);
}

export function bits(bytes: Uint8Array): Buffer {
  return element(0x03, Uint8Array.of(0), bytes);
}

export function text(value: string): Buffer {
  return element(0x0c, Buffer.from(value, 'utf8'));
}

/** A time from the year 2000 to 2049, in UTC. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

/** An element of a number of its own, which its surroundings give a meaning. */
export function tagged(number: number, isConstructed: boolean, ...parts: readonly Uint8Array[]): Buffer {
  return element((isConstructed ? 0xa0 : 0x80) | number, ...parts);
}

/** An object identifier such as `2.5.29.17`. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(sevenBits)]));
}

function sevenBits(value: number): readonly number[] {
  const groups = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return groups;
}

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}
