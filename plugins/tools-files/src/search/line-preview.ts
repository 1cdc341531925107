import { wholeCharacters } from '../text/line-window.js';
import type { TextSource } from './text-source.js';

export interface LinePreview {
  /** The line; `…` stands for what was cut at either end. */
  readonly text: string;
  /** Characters of the line before the match, plus 1; absent when the line was cut there. */
  readonly column?: number;
}

const LONGEST_PREVIEW = 2000;
/** The first match is shown at least when it begins in this many bytes; else the preview begins near it. */
const SHOWN_FROM_START = 1500;
const BEFORE_MATCH = 200;
const READ = 4 * LONGEST_PREVIEW + 4;
const LF = 10;

export async function previewLine(source: TextSource, offset: number, matchAt: number): Promise<LinePreview> {
  const skipped = matchAt > SHOWN_FROM_START ? matchAt - BEFORE_MATCH : 0;
  const bytes = await source(offset + skipped, READ);
  const feed = bytes.indexOf(LF);
  const isWhole = feed !== -1 || bytes.length < READ;
  const line = feed === -1 ? bytes : bytes.subarray(0, feed);
  const text = (skipped > 0 ? line.subarray(characterStart(line)) : line).toString('utf8').replace(/\r$/, '');
  const isCut = !isWhole || text.length > LONGEST_PREVIEW;
  const shown = isCut ? `${wholeCharacters(text, LONGEST_PREVIEW)}…` : text;
  if (skipped > 0) return { text: `…${shown}` };
  return { text: shown, column: line.toString('utf8', 0, matchAt).length + 1 };
}

/** The first byte that begins a character. */
function characterStart(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
