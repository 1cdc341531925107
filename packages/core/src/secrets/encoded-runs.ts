/** Characters of base64 in both of its alphabets, by their code: the value plus 1; 0 for what is none. */
const SEXTETS = new Uint8Array(128);
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SEXTETS[character.charCodeAt(0)] = value + 1;
SEXTETS['-'.charCodeAt(0)] = 63;
SEXTETS['_'.charCodeAt(0)] = 64;

const NIBBLES = new Uint8Array(128);
for (const character of '0123456789abcdefABCDEF') {
  NIBBLES[character.charCodeAt(0)] = Number.parseInt(character, 16) + 1;
}

/** Fewer characters hold too little to look for. */
export const SHORTEST_RUN = 16;
/** A line that an encoder has wrapped is at least this long, and goes on in the next. */
const SHORTEST_LINE = 40;
/** Characters of plain text in a row that make it worth to decode a run. */
const PLAIN_GROUPS = 4;
const PLAIN_BYTES = 12;

/** A run of characters in which something may be encoded, without the line breaks of an encoder. */
export interface EncodedRun {
  readonly characters: string;
  /** Where its lines are in the text: the index of each line's first character in the run, and its place. */
  readonly lines: readonly { readonly index: number; readonly start: number }[];
}

/** Where a character of a run stands in the text. */
export function placeIn({ lines }: EncodedRun, index: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle]?.index ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const line = lines[low];
  return line === undefined ? index : line.start + index - line.index;
}

/** The runs of a text. Hexadecimal digits are characters of base64 too. */
export function encodedRuns(text: string): readonly EncodedRun[] {
  const runs: EncodedRun[] = [];
  let pieces: { start: number; end: number }[] = [];
  let length = 0;
  const finish = (): void => {
    if (length >= SHORTEST_RUN) runs.push(runOf(text, pieces));
    pieces = [];
    length = 0;
  };
  for (let at = 0; at < text.length; at++) {
    if (!isEncoding(text.charCodeAt(at))) continue;
    let end = at + 1;
    while (end < text.length && isEncoding(text.charCodeAt(end))) end++;
    const last = pieces.at(-1);
    if (last !== undefined && !isWrapped(text, last, at)) finish();
    pieces.push({ start: at, end });
    length += end - at;
    at = end;
  }
  finish();
  return runs;
}

function isEncoding(code: number): boolean {
  return code < 128 && SEXTETS[code] !== 0;
}

/** Whether there is nothing but a line break and its indentation between a long line and what follows it. */
function isWrapped(text: string, last: { readonly start: number; readonly end: number }, next: number): boolean {
  if (last.end - last.start < SHORTEST_LINE || next - last.end > SHORTEST_LINE) return false;
  return /^[ \t]*\r?\n[ \t]*$/.test(text.slice(last.end, next));
}

/** Whether a text ends with a long line and its break, so that the next line may go on with it. */
export function isLineEnd(text: string): boolean {
  let end = text.length;
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end--;
  if (text[end - 1] === '\n') end--;
  else if (text[end - 1] !== '\r' || end < text.length) return false;
  if (text[end - 1] === '\r') end--;
  const start = end - SHORTEST_LINE;
  if (start < 0) return false;
  for (let at = end - 1; at >= start; at--) if (!isEncoding(text.charCodeAt(at))) return false;
  return true;
}

function runOf(text: string, pieces: readonly { readonly start: number; readonly end: number }[]): EncodedRun {
  let index = 0;
  const lines = pieces.map(({ start, end }) => {
    const line = { index, start };
    index += end - start;
    return line;
  });
  return { characters: pieces.map(({ start, end }) => text.slice(start, end)).join(''), lines };
}

/** At which of its first four characters a run can be base64 of something that holds plain text. */
export function base64Offsets(characters: string): readonly number[] {
  return [0, 1, 2, 3].filter((offset) => {
    let plain = 0;
    for (let at = offset; at + 3 < characters.length; at += 4) {
      plain = isPlainGroup(characters, at) ? plain + 1 : 0;
      if (plain >= PLAIN_GROUPS) return true;
    }
    return false;
  });
}

function isPlainGroup(characters: string, at: number): boolean {
  const first = sextet(characters, at);
  // The quickest no: the first byte of plain text lies between 0x20 and 0x7e, or it is a tab or a line break.
  if (first > 31 || (first < 8 && first !== 2 && first !== 3)) return false;
  const second = sextet(characters, at + 1);
  const third = sextet(characters, at + 2);
  return (
    isPlain((first << 2) | (second >> 4)) &&
    isPlain(((second & 15) << 4) | (third >> 2)) &&
    isPlain(((third & 3) << 6) | sextet(characters, at + 3))
  );
}

function sextet(characters: string, at: number): number {
  return (SEXTETS[characters.charCodeAt(at)] ?? 0) - 1;
}

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13;
}

/** Parts of a run that are hexadecimal digits of something that holds plain text: from `start`, in pairs. */
export function hexParts(characters: string): readonly { readonly start: number; readonly end: number }[] {
  const parts: { start: number; end: number }[] = [];
  for (let at = 0; at < characters.length; at++) {
    let end = at;
    while (end < characters.length && NIBBLES[characters.charCodeAt(end)] !== 0) end++;
    if (end - at >= 2 * PLAIN_BYTES) {
      for (const start of [at, at + 1]) if (holdsPlainHex(characters, start, end)) parts.push({ start, end });
    }
    at = Math.max(at, end);
  }
  return parts;
}

function holdsPlainHex(characters: string, start: number, end: number): boolean {
  let plain = 0;
  for (let at = start; at + 1 < end; at += 2) {
    const high = (NIBBLES[characters.charCodeAt(at)] ?? 0) - 1;
    const low = (NIBBLES[characters.charCodeAt(at + 1)] ?? 0) - 1;
    plain = isPlain((high << 4) | low) ? plain + 1 : 0;
    if (plain >= PLAIN_BYTES) return true;
  }
  return false;
}
