import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { SandboxCommand } from '@perdure/plugin-api';
import { isWithin, refusedPath } from './check-command.js';

/** A folder that was opened once and for all: whatever its path leads to later, this is what is mounted. */
export interface HeldFolder {
  readonly path: string;
  readonly descriptor: number;
}

export interface HeldPaths {
  readonly workspace: HeldFolder;
  /**
   * The folders between the workspace and what is hidden in it, outermost first. Each is mounted onto itself, because
   * a mount point cannot be renamed: else a command could move a hidden folder to a path that the next one sees.
   */
  readonly pinned: readonly HeldFolder[];
  readonly hiddenFolders: readonly string[];
  readonly hiddenFiles: readonly string[];
  close(): Promise<void>;
}

/** Opens what a command is given. Throws PERDURE_SANDBOX_PATH when a path leads through a symbolic link. */
export async function holdPaths({ workspace, workingDirectory, hidden = [] }: SandboxCommand): Promise<HeldPaths> {
  const handles: FileHandle[] = [];
  const hold = async (path: string): Promise<HeldFolder> => {
    const handle = await openFolder(path);
    handles.push(handle);
    return { path, descriptor: handle.fd };
  };
  const close = async (): Promise<void> => {
    for (const handle of handles) await handle.close();
  };
  try {
    const held = await hold(workspace);
    await (await openFolder(workingDirectory)).close();
    const pinned = new Map<string, HeldFolder>();
    const [hiddenFolders, hiddenFiles]: [string[], string[]] = [[], []];
    for (const path of outermost(hidden)) {
      const found = await holdParents(workspace, path, pinned, hold);
      if (found === undefined) continue;
      if (isWithin(path, workingDirectory)) throw refusedPath(workingDirectory, 'it is hidden');
      (found.isDirectory() ? hiddenFolders : hiddenFiles).push(path);
    }
    const byDepth = [...pinned.values()].sort((one, other) => one.path.length - other.path.length);
    return { workspace: held, pinned: byDepth, hiddenFolders, hiddenFiles, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Holds the folders that a hidden path is in, and tells what it is; `undefined` when it is not there. */
async function holdParents(
  workspace: string,
  path: string,
  pinned: Map<string, HeldFolder>,
  hold: (path: string) => Promise<HeldFolder>,
): Promise<Stats | undefined> {
  const parents: string[] = [];
  for (let parent = dirname(path); parent !== workspace; parent = dirname(parent)) parents.unshift(parent);
  for (const parent of parents) {
    if (pinned.has(parent)) continue;
    if ((await look(parent)) === undefined) return undefined;
    pinned.set(parent, await hold(parent));
  }
  const found = await look(path);
  if (found?.isSymbolicLink() === true) throw refusedPath(path, 'it is a symbolic link');
  return found;
}

async function look(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw refusedPath(path, `it cannot be looked at (${codeOf(error)})`, error);
  }
}

/** Opens a folder that its path leads to through no link. The kernel tells where the opened folder is. */
async function openFolder(path: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'it does not exist',
      ENOTDIR: 'it is no folder, or a symbolic link',
      ELOOP: 'it is a symbolic link',
    };
    throw refusedPath(path, reasons[codeOf(error)] ?? `it cannot be opened (${codeOf(error)})`, error);
  }
  const place = await readlink(`/proc/self/fd/${handle.fd}`);
  if (place === path) return handle;
  await handle.close();
  throw refusedPath(path, `a symbolic link is in "${basename(path)}" or above it`);
}

/** What is in a hidden folder is hidden with it. */
function outermost(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(other, path)));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
