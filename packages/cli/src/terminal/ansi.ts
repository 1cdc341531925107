/** The escape sequences that this program writes; there are no others. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = { readonly [Name in keyof typeof CODES]: (text: string) => string };

/** Moves to the beginning of the line and empties it. */
export const CLEAR_LINE = '\r\u001b[2K';

export function createStyle(isColored: boolean): Style {
  const entries = Object.entries(CODES).map(([name, [open, close]]) => {
    const paint = (text: string): string =>
      isColored && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
    return [name, paint] as const;
  });
  return Object.fromEntries(entries) as unknown as Style;
}

/** Whether output may be colored: on a terminal, unless `NO_COLOR` or the option says no. */
export function isColorWanted(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
  option: boolean,
): boolean {
  return stream.isTTY === true && option && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}
