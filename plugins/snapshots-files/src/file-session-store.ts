import { mkdirSync } from 'node:fs';
import { open, readdir, readFile, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readSnapshot, type SessionSnapshotV1 } from '@perdure/events';
import { PerdureError, type SnapshotStore } from '@perdure/plugin-api';
import { checkName, invalidSnapshot, snapshotText } from '@perdure/plugin-api/store-input';
import { damaged, guarded, isMissing, typed } from './file-error.js';
import { fileName, keyOf } from './file-name.js';
import { replaceFile, syncFolder } from './replace-file.js';
import { endsSealed, sealed, SEAL_BYTES, unsealed } from './seal.js';

const SUFFIX = '.snapshot.json';
const LEGACY_SUFFIX = '.json';

/**
 * Snapshots as files of one folder, one for each session, for any number of processes. A save is one file that takes
 * the place of another. Files `<id>.json` of other systems are read, and never written.
 */
export class FileSessionStore implements SnapshotStore {
  readonly name = 'files';
  readonly atomic = true;

  private readonly folder: string;
  private isClosed = false;

  /** Makes the folder when there is none, for its owner alone. Throws PERDURE_STORE_UNAVAILABLE. */
  constructor(folder: string) {
    this.folder = resolve(folder);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw typed(error);
    }
  }

  /** A damaged file is not replaced: PERDURE_STORE_DAMAGED, until it is deleted. */
  async save(key: string, snapshot: SessionSnapshotV1): Promise<void> {
    const path = this.pathOf(key, SUFFIX);
    const text = sealed(key, snapshotText(snapshot));
    await guarded(async () => {
      await this.refuseTorn(key, path);
      await replaceFile(path, text);
    });
  }

  async load(key: string): Promise<SessionSnapshotV1 | undefined> {
    const own = await this.read(this.pathOf(key, SUFFIX));
    if (own === undefined) return this.loadLegacy(key);
    const text = unsealed(key, own);
    if (text === undefined) throw damaged(`the snapshot "${key}" is not what was written`);
    return JSON.parse(text) as SessionSnapshotV1;
  }

  async list(): Promise<readonly string[]> {
    this.checkOpen();
    const names = await guarded(() => readdir(this.folder));
    const keys = names.flatMap((name) => {
      const suffix = [SUFFIX, LEGACY_SUFFIX].find((end) => name.endsWith(end));
      const key = suffix === undefined ? undefined : keyOf(name.slice(0, -suffix.length));
      return key === undefined ? [] : [key];
    });
    return [...new Set(keys)].sort();
  }

  async delete(key: string): Promise<void> {
    const paths = [this.pathOf(key, LEGACY_SUFFIX), this.pathOf(key, SUFFIX)];
    await guarded(async () => {
      for (const path of paths) {
        await unlink(path).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
      }
      await syncFolder(this.folder);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** A file of what came before the aggregate. What cannot be read of it is an error, not an absent session. */
  private async loadLegacy(key: string): Promise<SessionSnapshotV1 | undefined> {
    const text = await this.read(this.pathOf(key, LEGACY_SUFFIX));
    if (text === undefined) return undefined;
    const read = readSnapshot(parsed(key, text));
    if (!read.ok) throw invalidSnapshot(read.fault);
    return read.snapshot;
  }

  /** The seal at the end is the last thing written: without it the file is torn. */
  private async refuseTorn(key: string, path: string): Promise<void> {
    try {
      const file = await open(path, 'r');
      try {
        const { size } = await file.stat();
        const end = Buffer.alloc(Math.min(size, SEAL_BYTES));
        await file.read(end, 0, end.length, size - end.length);
        if (!endsSealed(end.toString('latin1'))) throw damaged(`the snapshot "${key}" is torn`);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  private read(path: string): Promise<string | undefined> {
    return guarded(async () => {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  private pathOf(key: string, suffix: string): string {
    this.checkOpen();
    checkName('key', key);
    return join(this.folder, fileName(key) + suffix);
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function parsed(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged(`the session "${key}" is no JSON`, cause);
  }
}
