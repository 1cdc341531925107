/** A text within another that must not be kept or shown: from `start` up to before `end`. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  /** What it is, in lower-case letters, digits and `-`. It is shown in its place: `[redacted:<kind>]`. */
  readonly kind: string;
}

/**
 * Finds texts that must not be kept or shown. It sees texts as they are and, one after the other, what they hold in
 * base64, hexadecimal digits, URL, JSON, JavaScript and HTML escapes: it has to know none of these.
 *
 * It must answer the same for the same text on every node. One that throws or answers nonsense has the whole text taken
 * out.
 */
export interface Redactor {
  readonly id: string;
  /** The longest text in characters that it can find. */
  readonly maxMatch: number;
  /** The shortest text in characters in which it can find anything; 1 when absent. */
  readonly minMatch?: number;
  /** What is in a text, in any order. Time and memory must be linear in its length. */
  find(text: string): readonly Finding[];
  /** What the value of a member must be replaced with because of the member's name. */
  findNamed?(name: string, value: string): Pick<Finding, 'kind'> | undefined;
  /**
   * Whether something that it finds may go on behind the end of a text. The text ends with white space or a character
   * beyond ASCII and holds the last 256 characters at most. Without this, streams hold back up to the longest match.
   */
  continues?(tail: string): boolean;
  /**
   * Whether something that it finds, or what it knows it by, may begin in a text and go on behind its end. The text
   * holds the last 256 characters at most, and ends with none of base64 or of an escape. Without this, always: what
   * follows a text of an answer waits for its end.
   */
  mayBegin?(tail: string): boolean;
}
