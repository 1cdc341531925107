const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text that a terminal shows as it is: control characters and changes of the writing direction, with which a text
 * could hide what it says or move the cursor, become `\xNN` and `\uNNNN`. Line ends and tabs stay.
 */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(CONTROL, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** The same in one line of at most so many characters. */
export function visibleLine(text: string, width: number): string {
  const line = visible(text.replace(/\s*\n\s*/g, ' ⏎ '));
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;
}
