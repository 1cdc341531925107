/** A line as it came, or the two ends of one that is longer than anyone has room for. */
export type ReadLine =
  { readonly text: string } | { readonly head: string; readonly tail: string; readonly bytes: number };

/** Bytes of each end that are kept of a line that is too long: enough to see which request it answers. */
const KEPT_BYTES = 512;

/** Cuts a stream of bytes into lines and holds no more of one than the longest allowed. */
export class LineReader {
  private chunks: Buffer[] = [];
  private length = 0;
  /** The ends of a line that is too long. */
  private ends: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(private readonly longest: number) {}

  /** The lines that end in the chunk. */
  push(chunk: Buffer): readonly ReadLine[] {
    const lines: ReadLine[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      this.keep(chunk.subarray(from, end < 0 ? chunk.length : end));
      if (end < 0) return lines;
      lines.push(this.take());
      from = end + 1;
    }
  }

  private keep(piece: Buffer): void {
    this.length += piece.length;
    if (this.length <= this.longest) {
      this.chunks.push(piece);
      return;
    }
    if (this.ends === undefined) {
      const whole = Buffer.concat([...this.chunks, piece]);
      this.ends = { head: Buffer.from(whole.subarray(0, KEPT_BYTES)), tail: Buffer.from(whole.subarray(-KEPT_BYTES)) };
      this.chunks = [];
    } else {
      this.ends.tail = Buffer.from(Buffer.concat([this.ends.tail, piece]).subarray(-KEPT_BYTES));
    }
  }

  private take(): ReadLine {
    const { chunks, ends, length: bytes } = this;
    this.chunks = [];
    this.ends = undefined;
    this.length = 0;
    if (ends !== undefined) return { head: ends.head.toString(), tail: ends.tail.toString(), bytes };
    return { text: Buffer.concat(chunks).toString().replace(/\r$/, '') };
  }
}

/** The id of the request that a message answers, from the ends of its text. */
export function answeredId({ head, tail }: { readonly head: string; readonly tail: string }): number | undefined {
  const atStart = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head);
  const atEnd = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  const found = atStart?.[1] ?? atEnd?.[1];
  return found === undefined ? undefined : Number(found);
}
