import type { Dirent } from 'node:fs';
import { throwIfAborted } from '../failure.js';
import { isIgnored, parseIgnoreFile, type IgnoreFile } from '../glob/gitignore.js';
import type { Directory } from '../root/directory.js';
import { openRoot, type Root } from '../root/root.js';
import { hasSystemCode } from '../root/system-error.js';
import { compareText, entryKind, entryName } from './entry.js';
import { createPace } from './pace.js';

/** The files of one folder. */
export interface WalkedFolder {
  /** Below the workspace. */
  readonly segments: readonly string[];
  readonly names: readonly string[];
  /** Open until the next folder is asked for. */
  readonly directory: Directory;
}

/** What a walk left out, and why. */
export interface WalkLosses {
  /** Folders that could not be read, were replaced meanwhile, or are nested too deeply. */
  unreadableFolders: number;
  /** The walk ended early because there are too many entries. */
  tooMany: boolean;
}

const MOST_ENTRIES = 1_000_000;
/** Each level keeps one folder open. */
const DEEPEST = 256;
const LARGEST_IGNORE_FILE = 256 * 1024;
const IGNORE_FILE = '.gitignore';

/**
 * Yields the regular files of a folder and then of the folders in it, all in the order of their names, without those
 * that .gitignore files of the workspace leave out and without `.git`. Links are not followed. The folder that the walk
 * begins with is walked even if it is ignored.
 */
export async function* walkFolders(
  root: Root,
  start: readonly string[],
  losses: WalkLosses,
  signal: AbortSignal,
): AsyncGenerator<WalkedFolder> {
  const ignoreFiles: IgnoreFile[] = [];
  const state: WalkState = { losses, signal, pace: createPace(), entries: 0 };
  let directory = await openRoot(root);
  try {
    for (const segment of start) {
      await addIgnoreFile(directory, ignoreFiles);
      const next = await directory.openDirectory(segment);
      await directory.close();
      directory = next;
    }
    yield* walkFolder(directory, start, ignoreFiles, state);
  } finally {
    await directory.close();
  }
}

interface WalkState {
  readonly losses: WalkLosses;
  readonly signal: AbortSignal;
  readonly pace: () => Promise<void> | undefined;
  entries: number;
}

async function* walkFolder(
  directory: Directory,
  segments: readonly string[],
  inherited: readonly IgnoreFile[],
  state: WalkState,
): AsyncGenerator<WalkedFolder> {
  throwIfAborted(state.signal);
  const entries = await entriesOf(directory, state);
  if (state.losses.tooMany) return;
  const ignoreFiles = [...inherited];
  if (entries.some(({ name }) => name === IGNORE_FILE)) await addIgnoreFile(directory, ignoreFiles);
  const names: string[] = [];
  const folders: string[] = [];
  for (const { name, isFolder } of entries) {
    await state.pace();
    throwIfAborted(state.signal);
    if (!isIgnored(ignoreFiles, [...segments, name], isFolder)) (isFolder ? folders : names).push(name);
  }
  yield { segments, names, directory };
  for (const name of folders) {
    yield* walkChild(directory, [...segments, name], ignoreFiles, state);
    if (state.losses.tooMany) return;
  }
}

async function* walkChild(
  parent: Directory,
  segments: readonly string[],
  ignoreFiles: readonly IgnoreFile[],
  state: WalkState,
): AsyncGenerator<WalkedFolder> {
  const child = segments.length > DEEPEST ? undefined : await openForWalk(parent, segments.at(-1) ?? '');
  if (child === undefined) {
    state.losses.unreadableFolders += 1;
    return;
  }
  try {
    yield* walkFolder(child, segments, ignoreFiles, state);
  } finally {
    await child.close();
  }
}

/** `undefined` for a folder that is gone, forbidden, or something else by now: the walk goes on without it. */
async function openForWalk(parent: Directory, name: string): Promise<Directory | undefined> {
  try {
    return await parent.openListedDirectory(name);
  } catch (error) {
    if (isLoss(error)) return undefined;
    throw error;
  }
}

/** Whether an error concerns one file or folder, so that a search can go on without it. */
export function isLoss(error: unknown): boolean {
  const codes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENOTREG', 'ESWAPPED', 'ESPELLING', 'ENXIO'];
  return hasSystemCode(error, ...codes);
}

interface WalkedEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

async function entriesOf(directory: Directory, state: WalkState): Promise<readonly WalkedEntry[]> {
  let entries: readonly Dirent<Buffer>[];
  try {
    entries = await directory.entries();
  } catch (error) {
    if (!isLoss(error)) throw error;
    state.losses.unreadableFolders += 1;
    return [];
  }
  state.entries += entries.length;
  if (state.entries > MOST_ENTRIES) state.losses.tooMany = true;
  const walked = entries.flatMap((entry): readonly WalkedEntry[] => {
    const name = entryName(entry);
    const kind = entryKind(entry);
    if (name === undefined || name === '.git' || (kind !== 'file' && kind !== 'directory')) return [];
    return [{ name, isFolder: kind === 'directory' }];
  });
  return walked.toSorted((one, other) => compareText(one.name, other.name));
}

/** A .gitignore that is a link, not a file, or too large has no effect. */
async function addIgnoreFile(directory: Directory, ignoreFiles: IgnoreFile[]): Promise<void> {
  let file;
  try {
    file = await directory.openFile(IGNORE_FILE, 'read');
  } catch (error) {
    if (isLoss(error)) return;
    throw error;
  }
  const { handle, stats } = file;
  try {
    if (stats.size > LARGEST_IGNORE_FILE) return;
    const buffer = Buffer.alloc(stats.size);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const depth = directory.path === '' ? 0 : directory.path.split('/').length;
    ignoreFiles.push(parseIgnoreFile(buffer.toString('utf8', 0, bytesRead), depth));
  } finally {
    await handle.close();
  }
}
