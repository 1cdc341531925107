import { readlink, realpath, stat, type FileHandle } from 'node:fs/promises';

/**
 * Where an opened file is. Links on the way may have been swapped since its path was looked at, so the descriptor is
 * asked where the system names descriptors. Elsewhere the path is followed again and must lead to the file that was
 * opened. `undefined` when it leads to another.
 */
export async function openedPath(handle: FileHandle, target: string): Promise<string | undefined> {
  const named = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  return named ?? foundAgain(handle, target);
}

/** A path that leads to an opened file without a link. */
export async function foundAgain(handle: FileHandle, target: string): Promise<string | undefined> {
  const path = await realpath(target);
  const [opened, found] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })]);
  return opened.ino === found.ino && opened.dev === found.dev ? path : undefined;
}
