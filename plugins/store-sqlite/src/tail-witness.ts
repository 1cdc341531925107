import { closeSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** The last fact that was durable when the witness was written. */
export interface Witnessed {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
}

/** One line; a stream's name has at most 1,000 characters of at most six bytes in JSON. */
const LONGEST = 8 * 1024;
const FORM = /^perdure-tail 1 (\d+) (\d+) (".*") ([0-9a-f]{8})\n/;

/** A busy store writes its witness that often, and an idle one that late. Milliseconds. */
const WRITE_EVERY = 5;

/**
 * A few bytes beside the database that tell how far its facts reached. SQLite drops a write-ahead log from the first
 * damaged frame on without a word, which would make streams silently shorter; the witness makes such a loss known.
 *
 * It is written behind durable commits, and without waiting for the disk: so it is never ahead of the truth. Being
 * absent, torn or behind proves nothing and is ignored.
 */
export class TailWitness {
  private readonly file: number;
  private readonly buffer = Buffer.alloc(LONGEST);
  /** The text that was read last and what it says, so that an unchanged one need not be taken apart again. */
  private lastText = '';
  private lastWitnessed: Witnessed | undefined;
  private pending: Witnessed | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writtenAt = 0;
  private hasWarned = false;

  /** Opens `path`, and makes it when it is missing. */
  constructor(path: string) {
    this.file = openOrMake(path);
  }

  read(): Witnessed | undefined {
    const length = readSync(this.file, this.buffer, 0, LONGEST, 0);
    const end = this.buffer.subarray(0, length).indexOf(10);
    const text = this.buffer.toString('utf8', 0, end + 1);
    if (text !== this.lastText) {
      this.lastText = text;
      this.lastWitnessed = parseWitness(text);
    }
    return this.lastWitnessed;
  }

  /** A fact is durable. It is witnessed at once, or a little later when the last time is not long ago. */
  note(witnessed: Witnessed): void {
    this.pending = witnessed;
    if (performance.now() - this.writtenAt >= WRITE_EVERY) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), WRITE_EVERY);
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }

  /** Writes in one call at the beginning. A longer line of before ends behind the line's end and is not read. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending === undefined) return;
    try {
      writeSync(this.file, witnessText(this.pending), 0);
    } catch (error) {
      // The facts are stored. A witness that is behind proves less; that must be known, but must not fail an append.
      if (!this.hasWarned)
        process.emitWarning(`The tail witness cannot be written: ${String(error)}`, 'PerdureWarning');
      this.hasWarned = true;
    }
    this.pending = undefined;
    this.writtenAt = performance.now();
  }
}

export function witnessText({ position, stream, revision }: Witnessed): string {
  const text = `perdure-tail 1 ${position} ${revision} ${JSON.stringify(stream)}`;
  return `${text} ${checksum(text)}\n`;
}

/** What a witness says; `undefined` when it is torn or is none. */
export function parseWitness(text: string): Witnessed | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [line, position, revision, stream, sum] = match as unknown as [string, string, string, string, string];
  if (checksum(line.slice(0, -10)) !== sum) return undefined;
  return { position: Number(position), revision: Number(revision), stream: JSON.parse(stream) as string };
}

/** Not in the mode for appending, in which the place of a write is ignored. */
function openOrMake(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return openSync(path, 'w+', 0o600);
  }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** Takes away a witness that tells nothing, beside a file that turned out to be no store. */
export function removeIfEmpty(path: string): void {
  if (statSync(path).size === 0) rmSync(path);
}
