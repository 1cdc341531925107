/** Bits per character of a text, by how often each of its characters comes up. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Whether a text has letters and digits in an order that nobody would write. */
export function isRandom(text: string, leastBits: number): boolean {
  return /[A-Za-z]/.test(text) && /[0-9]/.test(text) && entropyOf(text) >= leastBits;
}
