import { lstat, open, readlink, type FileHandle } from 'node:fs/promises';
import type { Anchor } from './anchor.js';
import { childPath, joined, OPEN_DIRECTORY } from './directory.js';
import { syncFolder } from './sync-folder.js';
import { hasSystemCode, systemError } from './system-error.js';

/**
 * Linux: holds a folder by its descriptor and reaches names through `/proc/self/fd`. The kernel goes on from the open
 * folder itself, whatever its path leads to by then, so a swap cannot matter and nothing has to be confirmed.
 */
export async function descriptorAnchor(root: string): Promise<Anchor> {
  const handle = await open(root, OPEN_DIRECTORY);
  try {
    await requirePlace(handle, root);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return anchored(handle, '');
}

function anchored(handle: FileHandle, path: string): Anchor {
  let isOpen = true;
  const baseOf = (): string => {
    // The number of a closed descriptor soon names another file.
    if (!isOpen) throw new Error(`"${path}" was used after it was closed`);
    return `/proc/self/fd/${handle.fd}`;
  };
  return {
    get base() {
      return baseOf();
    },
    location: undefined,
    confirm: async () => {},
    confirmFile: async () => {},
    enter: async (name) => {
      const child = joined(baseOf(), name);
      try {
        return anchored(await open(child, OPEN_DIRECTORY), childPath(path, name));
      } catch (error) {
        if (!hasSystemCode(error, 'ENOTDIR', 'ELOOP')) throw error;
        const isLink = (await lstat(child)).isSymbolicLink();
        throw systemError(isLink ? 'ELOOP' : 'ENOTDIR', childPath(path, name));
      }
    },
    sync: () => syncFolder(handle),
    close: async () => {
      isOpen = false;
      await handle.close();
    },
  };
}

/**
 * Requires that the folder is the one of this real path, reached through no link. Without /proc that cannot be told,
 * and names of descriptors lead nowhere: fail closed with the cause.
 */
async function requirePlace(handle: FileHandle, root: string): Promise<void> {
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch((cause: unknown) => {
    throw new Error('/proc is not mounted, and files cannot be reached safely without it', { cause });
  });
  if (place !== root) throw systemError('ESWAPPED', '.');
}
