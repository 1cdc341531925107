import { link, lstat, mkdir, open, readdir, readlink, rename, unlink, type FileHandle } from 'node:fs/promises';
import type { Anchor } from './anchor.js';
import {
  childPath,
  CREATE_FILE,
  joined,
  openFlags,
  type Directory,
  type FileAccess,
  type Name,
  type OpenedFile,
} from './directory.js';
import { requireSpelling } from './spelling.js';
import { hasSystemCode, systemError } from './system-error.js';

/** The folder that an anchor holds. */
export function anchoredDirectory(anchor: Anchor, path: string): Directory {
  const at = (name: Name): string | Buffer => joined(anchor.base, name);
  const confirmed = async <T>(use: () => Promise<T>): Promise<T> => {
    await anchor.confirm();
    const result = await use();
    await anchor.confirm();
    return result;
  };
  const directory: Directory = {
    path,
    location: anchor.location,
    entries: () => confirmed(() => readdir(anchor.base, { withFileTypes: true, encoding: 'buffer' })),
    look: (name) => confirmed(() => lstat(at(name))),
    readLink: (name) => confirmed(() => readlink(at(name), { encoding: 'buffer' })),
    openDirectory: async (name) => {
      const child = anchoredDirectory(await anchor.enter(name), childPath(path, name));
      await requireSpellingOr(directory, name, child.close);
      return child;
    },
    openFile: async (name, access) => {
      await requireRegular(joined(anchor.base, name), childPath(path, name));
      const file = await openRegular(anchor, name, access, childPath(path, name));
      await requireSpellingOr(directory, name, () => file.handle.close());
      return file;
    },
    openListedDirectory: async (name) => anchoredDirectory(await anchor.enter(name), childPath(path, name)),
    openListedFile: (name) => openRegular(anchor, name, 'read', childPath(path, name)),
    createFile: async (name, mode) => {
      await anchor.confirm();
      const handle = await open(at(name), CREATE_FILE, mode);
      return confirmedFile(anchor, name, handle);
    },
    makeDirectory: (name) =>
      confirmed(async () => {
        await mkdir(at(name));
        await anchor.sync();
      }),
    rename: (from, to) => confirmed(() => rename(at(from), at(to))),
    link: (from, to) => confirmed(() => link(at(from), at(to))),
    unlink: (name) => confirmed(() => unlink(at(name))),
    sync: () => anchor.sync(),
    close: () => anchor.close(),
  };
  return directory;
}

async function requireSpellingOr(directory: Directory, name: string, giveUp: () => Promise<void>): Promise<void> {
  try {
    await requireSpelling(directory, name);
  } catch (error) {
    await giveUp();
    throw error;
  }
}

/** Looks at what is there before it is opened, because to open a device or a FIFO can have effects of its own. */
async function requireRegular(place: string | Buffer, path: string): Promise<void> {
  const seen = await lstat(place);
  if (seen.isSymbolicLink()) throw systemError('ELOOP', path);
  if (!seen.isFile()) throw systemError('ENOTREG', path);
}

/** Looks at what was opened: whatever was seen before is out of date. */
async function openRegular(anchor: Anchor, name: Name, access: FileAccess, path: string): Promise<OpenedFile> {
  const handle = await open(joined(anchor.base, name), openFlags(access)).catch((error: unknown) => {
    throw hasSystemCode(error, 'ELOOP') ? systemError('ELOOP', path) : error;
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw systemError('ENOTREG', path);
    await anchor.confirmFile(name, handle);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function confirmedFile(anchor: Anchor, name: Name, handle: FileHandle): Promise<FileHandle> {
  try {
    await anchor.confirmFile(name, handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
