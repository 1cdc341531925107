import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { defaultPath } from '@perdure/store-sqlite';

/** Everything that the default store keeps, by real paths as far as their folders exist. */
export function storeFiles(storePath: string | undefined): readonly string[] {
  const file = realPath(resolve(storePath ?? defaultPath()));
  return ['', '-wal', '-shm', '-tail', '-nodes'].map((end) => `${file}${end}`);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}
