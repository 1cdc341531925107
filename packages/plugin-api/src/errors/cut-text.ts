/** Characters by which a text may grow so that its last word stays whole: keys are no longer. */
const LONGEST_WORD = 1_024;
/** Signs that stand in keys and in what they are encoded in. */
const OF_A_KEY = /[A-Za-z0-9+/=_%\\.~#&;:@-]+$/;

/**
 * A text that is too long, cut behind the word at `length`. What is cut within a credential could no longer be
 * recognised, and what is left of it would be kept: so a word that has no end is left out. The result has at most 1,024
 * characters more.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const rest = text.slice(length, length + LONGEST_WORD);
  const end = /\s/.test(text.charAt(length - 1)) ? 0 : rest.search(/\s/);
  if (end >= 0) return text.slice(0, length + end);
  if (text.length <= length + LONGEST_WORD) return text;
  return text.slice(0, length).replace(OF_A_KEY, '');
}
