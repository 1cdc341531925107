/** What JSON lets through and a terminal obeys, or what changes the direction in which a text is read. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * A value as JSON that is harmless on a terminal: what a terminal would obey is escaped. It is the same JSON, so that a
 * pipe gets it too.
 */
export function jsonText(value: unknown, indent?: number): string {
  return jsonSafe(JSON.stringify(value ?? null, null, indent));
}

/** The same for what is JSON text already. */
export function jsonSafe(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
