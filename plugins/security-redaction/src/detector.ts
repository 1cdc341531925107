import type { Finding } from '@perdure/plugin-api';

/** Finds one sort of credential in a text, in time that is linear in it. */
export interface Detector {
  readonly kind: string;
  /** The longest and the shortest text in characters that it can find. */
  readonly maxMatch: number;
  readonly minMatch: number;
  /** What every text has in which it finds anything. It is quick: nearly all texts do not have it. */
  readonly hint: RegExp;
  find(text: string): readonly Finding[];
  /** Whether what it finds may go on behind a text that ends with white space; it holds none when absent. */
  continues?(tail: string): boolean;
  /** Whether what it finds may hold a character, of a host's pattern that no hint shows the beginning of. */
  mayHold?(code: number): boolean;
}

/** Calls for each match of a global pattern. `matchAll` would copy the pattern each time. */
export function forEachMatch(pattern: RegExp, text: string, take: (match: RegExpExecArray) => void): void {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) take(match);
}
