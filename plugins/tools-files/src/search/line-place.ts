/** Where a line is that matched or that stands beside one that did. */
export interface LinePlace {
  /** The file as ripgrep was told it. */
  readonly file: string;
  readonly matched: boolean;
  /** From 1. */
  readonly lineNumber: number;
  /** Bytes before the line in the text, without a byte order mark, as UTF-8. */
  readonly offset: number;
  /** Bytes of the line before the match. */
  readonly matchAt: number;
}

/** What makes ripgrep print places and nothing of the lines, however long they are. */
export const placeArguments: readonly string[] = [
  '--color=never',
  '--no-heading',
  '--with-filename',
  '--null',
  '--line-number',
  '--column',
  '--byte-offset',
  '--max-columns=1',
  '--no-context-separator',
  '--no-mmap',
  '--threads=1',
];

const PLACE = /^(\d+)(?::(\d+):(\d+):|-(\d+)-)/;

const BINARY = ': binary file matches (found ';

/** Reads a line of ripgrep's output; `binary` for what it says of a binary file, `undefined` for anything else. */
export function readPlace(line: Buffer): LinePlace | 'binary' | undefined {
  const end = line.indexOf(0);
  if (end === -1) return line.includes(BINARY) ? 'binary' : undefined;
  const found = PLACE.exec(line.toString('latin1', end + 1, end + 80));
  if (found === null) return undefined;
  const [, lineNumber, column, matchOffset, contextOffset] = found;
  return {
    file: line.toString('utf8', 0, end),
    matched: column !== undefined,
    lineNumber: Number(lineNumber),
    offset: Number(matchOffset ?? contextOffset),
    matchAt: column === undefined ? 0 : Number(column) - 1,
  };
}
