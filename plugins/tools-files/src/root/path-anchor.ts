import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Anchor } from './anchor.js';
import { childPath, joined, type Name } from './directory.js';
import { syncFolder } from './sync-folder.js';
import { systemError } from './system-error.js';

/** How often the place of an open file is confirmed: each time a swap would have to hit two gaps of its own. */
const CONFIRMATIONS = 3;

/**
 * Systems other than Linux: holds a folder by its path, and confirms before and after each use that the path still
 * leads, without any link, to the folder that was opened.
 */
export async function pathAnchor(root: string): Promise<Anchor> {
  const anchor = anchored(root, await folderAt(root, '.'), '');
  await anchor.confirm();
  return anchor;
}

function anchored(base: string, opened: BigIntStats, path: string): Anchor {
  const confirm = async (): Promise<void> => {
    if ((await realpath(base)) !== base) throw systemError('ESWAPPED', path);
    if (!isSame(await lstat(base, { bigint: true }), opened)) throw systemError('ESWAPPED', path);
  };
  return {
    base,
    location: base,
    confirm,
    confirmFile: async (name, handle) => {
      const held = await handle.stat({ bigint: true });
      for (let round = 0; round < CONFIRMATIONS; round += 1) {
        await confirm();
        await requireSpelledPlace(base, name, path);
        if (!isSame(await lstat(joined(base, name), { bigint: true }), held)) {
          throw systemError('ESWAPPED', childPath(path, name));
        }
      }
    },
    enter: async (name) => {
      await confirm();
      const child = joined(base, name).toString();
      const opened = await folderAt(child, childPath(path, name));
      await requireSpelledPlace(base, name, path);
      const entered = anchored(child, opened, childPath(path, name));
      await entered.confirm();
      return entered;
    },
    sync: async () => {
      // Windows cannot flush a folder, and keeps names durable by itself.
      if (process.platform === 'win32') return;
      const handle = await open(base, constants.O_RDONLY);
      try {
        await syncFolder(handle);
      } finally {
        await handle.close();
      }
    },
    close: async () => {},
  };
}

async function folderAt(path: string, component: string): Promise<BigIntStats> {
  const found = await lstat(path, { bigint: true });
  if (found.isSymbolicLink()) throw systemError('ELOOP', component);
  if (!found.isDirectory()) throw systemError('ENOTDIR', component);
  return found;
}

/** The system tells a name as it is on disk, so another spelling is told apart from another place. */
async function requireSpelledPlace(base: string, name: Name, path: string): Promise<void> {
  const asked = joined(base, name).toString();
  const actual = await realpath(asked);
  if (actual === asked) return;
  if (dirname(actual) === base) throw systemError('ESPELLING', childPath(path, basename(actual)));
  throw systemError('ESWAPPED', childPath(path, name));
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
