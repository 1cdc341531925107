import { setImmediate } from 'node:timers/promises';

export interface LineScan {
  readonly totalLines: number;
  /** Byte at which the asked line begins; the length of the text when there is no such line. */
  readonly start: number;
  readonly lineEnding: LineEnding;
}

export type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none';

export interface LineWindow {
  /** The lines, joined with LF whatever the line ends of the file. */
  readonly content: string;
  readonly lines: number;
  /** Lines that were longer than the limit and end in a mark. */
  readonly cutLines: number;
  /** Whether the end of the text was reached. */
  readonly complete: boolean;
}

/** Bytes that are scanned before other work of the process gets its turn. */
const SLICE = 1024 * 1024;
const LF = 10;
const CR = 13;

/** Counts the lines of a UTF-8 text and finds the one at a 0-based offset. */
export async function scanLines(text: Buffer, offset: number): Promise<LineScan> {
  let feeds = 0;
  let pairs = 0;
  let start = offset === 0 ? 0 : text.length;
  for (let from = 0; from < text.length; from += SLICE) {
    const to = Math.min(from + SLICE, text.length);
    for (let at = from; at < to; at += 1) {
      if (text[at] !== LF) continue;
      feeds += 1;
      if (text[at - 1] === CR) pairs += 1;
      if (feeds === offset) start = at + 1;
    }
    if (to < text.length) await setImmediate();
  }
  const totalLines = feeds + (text.length > 0 && text.at(-1) !== LF ? 1 : 0);
  return { totalLines, start, lineEnding: lineEnding(feeds, pairs) };
}

function lineEnding(feeds: number, pairs: number): LineEnding {
  if (feeds === 0) return 'none';
  if (pairs === 0) return 'lf';
  return pairs === feeds ? 'crlf' : 'mixed';
}

/** Takes whole lines from a byte on, until a limit is reached. There is always room for one line. */
export function takeLines(
  text: Buffer,
  start: number,
  limits: { readonly lines: number; readonly bytes: number; readonly lineCharacters: number },
): LineWindow {
  const taken: string[] = [];
  let bytes = 0;
  let cutLines = 0;
  let at = start;
  while (at < text.length && taken.length < limits.lines) {
    const feed = text.indexOf(LF, at);
    const end = feed === -1 ? text.length : feed;
    const line = lineText(text.subarray(at, end), limits.lineCharacters);
    bytes += Buffer.byteLength(line.text) + 1;
    if (taken.length > 0 && bytes > limits.bytes) break;
    taken.push(line.text);
    if (line.cut) cutLines += 1;
    at = end + 1;
  }
  return { content: taken.join('\n'), lines: taken.length, cutLines, complete: at >= text.length };
}

function lineText(line: Buffer, limit: number): { readonly text: string; readonly cut: boolean } {
  const body = line.at(-1) === CR ? line.subarray(0, -1) : line;
  // A character takes at most 3 bytes per UTF-16 unit, so this much is enough to be cut from.
  const text = body.subarray(0, limit * 4).toString('utf8');
  if (text.length <= limit) return { text, cut: false };
  return { text: `${wholeCharacters(text, limit)}…[line cut, ${body.length} bytes]`, cut: true };
}

/** The first characters of a text, without half of a surrogate pair at the end. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
