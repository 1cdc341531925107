import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeFrame, frameAt } from './frame.js';
import { FolderLock } from './folder-lock.js';

/** The first bytes of a file, so that no other file is taken for a log. */
const MAGIC = Buffer.from('perdure-esdb-1\n\n', 'latin1');

/** One entry of the log and where it is. Offsets grow and are never given twice. */
export interface LogEntry {
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface OpenedLog {
  readonly log: LogFile;
  readonly entries: readonly LogEntry[];
}

interface Waiting {
  readonly frame: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An append-only file of entries with checksums. Entries that wait while the disk is busy share the next wait for it.
 * A torn end, which was never acknowledged, is cut off when the file is opened.
 */
export class LogFile {
  private readonly file: FileHandle;
  private readonly lock: FolderLock;
  private readonly waitsForDisk: boolean;
  private waiting: Waiting[] = [];
  private end: number;
  private failure: unknown;
  private flushing: Promise<void> | undefined;

  private constructor(file: FileHandle, lock: FolderLock, end: number, waitsForDisk: boolean) {
    this.file = file;
    this.lock = lock;
    this.end = end;
    this.waitsForDisk = waitsForDisk;
  }

  /** Throws when another process has the folder, or when the file is not a log or is damaged before its end. */
  static async open(folder: string, waitsForDisk: boolean): Promise<OpenedLog> {
    await mkdir(folder, { recursive: true });
    const lock = await FolderLock.take(folder);
    const path = join(folder, 'events.log');
    const file = await open(path, 'a+');
    try {
      const { entries, end } = entriesOf(await readFile(path), path);
      await file.truncate(end);
      if (end === 0) await file.write(MAGIC);
      await file.sync();
      return { log: new LogFile(file, lock, Math.max(end, MAGIC.length), waitsForDisk), entries };
    } catch (error) {
      await file.close();
      await lock.release();
      throw error;
    }
  }

  /** Takes a place in the log at once; `durable` resolves when the entry, and all before it, survive. */
  append(bytes: Uint8Array): { readonly offset: number; readonly durable: Promise<void> } {
    if (this.failure !== undefined) throw this.failure;
    const offset = this.end;
    const frame = encodeFrame(bytes);
    this.end += frame.length;
    const durable = new Promise<void>((resolve, reject) => this.waiting.push({ frame, resolve, reject }));
    this.flushing ??= this.flush();
    return { offset, durable };
  }

  async close(): Promise<void> {
    await this.flushing;
    await this.file.close();
    await this.lock.release();
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.file.writev(batch.map(({ frame }) => frame));
        if (this.waitsForDisk) await this.file.datasync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        // What is on the disk is not known: nothing is stored until the file is opened again.
        this.failure = error;
        for (const { reject } of [...batch, ...this.waiting]) reject(error);
        this.waiting = [];
      }
    }
    this.flushing = undefined;
  }
}

function entriesOf(file: Buffer, path: string): { readonly entries: readonly LogEntry[]; readonly end: number } {
  if (file.length < MAGIC.length) return { entries: [], end: 0 };
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error(`${path} is not a log of this emulator`);
  const entries: LogEntry[] = [];
  let offset = MAGIC.length;
  while (offset < file.length) {
    const found = frameAt(file, offset);
    if (found.kind === 'damaged') throw new Error(`${path} is damaged at byte ${offset}`);
    if (found.kind === 'torn') break;
    entries.push({ offset, bytes: found.bytes });
    offset = found.end;
  }
  return { entries, end: offset };
}
