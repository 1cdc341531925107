import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps two processes from writing to one folder. The mark of a process that is dead counts for nothing. */
export class FolderLock {
  private readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async take(folder: string): Promise<FolderLock> {
    const path = join(folder, 'owner.pid');
    for (;;) {
      try {
        await writeFile(path, String(process.pid), { flag: 'wx' });
        return new FolderLock(path);
      } catch (error) {
        if (!isCode(error, 'EEXIST')) throw error;
      }
      const owner = await ownerOf(path);
      if (owner !== undefined && isAlive(owner)) throw new Error(`${folder} is used by process ${owner}`);
      await rm(path, { force: true });
    }
  }

  async release(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

async function ownerOf(path: string): Promise<number | undefined> {
  try {
    const owner = Number(await readFile(path, 'utf8'));
    return Number.isInteger(owner) && owner > 0 ? owner : undefined;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
