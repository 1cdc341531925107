import { LARGEST_FILE } from '../effect/file-version.js';
import { childPath, joined, type Directory, type OpenedFile } from '../root/directory.js';
import { withDirectory, type Root } from '../root/root.js';
import type { WorkspacePath } from '../root/workspace-path.js';
import type { PathFilter } from '../glob/search-pattern.js';
import { grepFiles, type GrepMatch, type GrepQuery, type SearchedFile } from './grep-files.js';
import { isLoss, walkFolders, type WalkLosses } from './walk.js';

export interface GrepScope {
  readonly root: Root;
  /** A folder, or one file. */
  readonly path: WorkspacePath;
  readonly filter: PathFilter;
}

export interface GrepResult {
  readonly matches: readonly GrepMatch[];
  readonly truncated: boolean;
  readonly losses: GrepLosses;
}

/** What a search did not look into. */
export interface GrepLosses extends WalkLosses {
  searchedFiles: number;
  unreadableFiles: number;
  binaryFiles: number;
  largeFiles: number;
}

/** How many files, and how much of an argument list, one run of ripgrep gets. */
const BATCH = 384;
const LONGEST_ARGUMENTS = 16_000;
/** Files that are opened at the same time. */
const GROUP = 32;
const LARGEST_OUTPUT = 256 * 1024;

/** Searches in the order of the paths, until there are enough lines. */
export async function grepFolder(scope: GrepScope, query: GrepQuery, most: number): Promise<GrepResult> {
  const losses: GrepLosses = {
    ...{ unreadableFolders: 0, tooMany: false },
    ...{ searchedFiles: 0, unreadableFiles: 0, binaryFiles: 0, largeFiles: 0 },
  };
  const collected = new Collected(most);
  let batch: SearchedFile[] = [];
  let argumentLength = 0;
  const search = async (): Promise<void> => {
    const files = batch;
    batch = [];
    argumentLength = 0;
    try {
      const fitting = files.filter(({ stats }) => stats.size > 0 && stats.size <= LARGEST_FILE);
      losses.searchedFiles += fitting.length;
      losses.largeFiles += files.filter(({ stats }) => stats.size > LARGEST_FILE).length;
      if (fitting.length === 0) return;
      const found = await grepFiles(fitting, query, collected.wanted);
      losses.binaryFiles += found.binaryFiles;
      losses.unreadableFiles += found.unreadableFiles;
      collected.add(found.matches);
    } finally {
      await closeAll(files);
    }
  };
  try {
    for await (const group of searchedFiles(scope, query.signal, losses)) {
      batch.push(...group);
      for (const file of group) argumentLength += file.location?.length ?? 0;
      if (batch.length >= BATCH || argumentLength > LONGEST_ARGUMENTS) await search();
      if (collected.isFull) break;
    }
    if (!collected.isFull) await search();
  } finally {
    await closeAll(batch);
  }
  return { matches: collected.matches, truncated: collected.isFull || losses.tooMany, losses };
}

async function closeAll(files: readonly SearchedFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

/** Yields files in groups that were opened together. Who takes a group closes its files. */
async function* searchedFiles(
  scope: GrepScope,
  signal: AbortSignal,
  losses: GrepLosses,
): AsyncGenerator<readonly SearchedFile[]> {
  const { root, path } = scope;
  if (!(await isFolder(root, path))) {
    const name = path.segments.at(-1) ?? '';
    const parent = path.segments.slice(0, -1);
    yield [
      await withDirectory(root, parent, async (directory) =>
        searched(directory, name, await directory.openFile(name, 'read')),
      ),
    ];
    return;
  }
  for await (const { segments, names, directory } of walkFolders(root, path.segments, losses, signal)) {
    const below = segments.slice(path.segments.length);
    const wanted = names.filter((name) => scope.filter([...below, name]));
    for (let from = 0; from < wanted.length; from += GROUP) {
      yield await openGroup(directory, wanted.slice(from, from + GROUP), losses);
    }
  }
}

async function openGroup(
  directory: Directory,
  names: readonly string[],
  losses: GrepLosses,
): Promise<readonly SearchedFile[]> {
  const opened = await Promise.allSettled(names.map((name) => directory.openListedFile(name)));
  const files: SearchedFile[] = [];
  let problem: unknown;
  for (const [index, result] of opened.entries()) {
    if (result.status === 'fulfilled') files.push(searched(directory, names[index] ?? '', result.value));
    else if (isLoss(result.reason)) losses.unreadableFiles += 1;
    else problem ??= result.reason;
  }
  if (problem === undefined) return files;
  await closeAll(files);
  throw problem;
}

function searched(directory: Directory, name: string, file: OpenedFile): SearchedFile {
  const location = directory.location === undefined ? undefined : joined(directory.location, name).toString();
  return { ...file, path: childPath(directory.path, name), location };
}

async function isFolder(root: Root, path: WorkspacePath): Promise<boolean> {
  const name = path.segments.at(-1);
  if (name === undefined) return true;
  return withDirectory(root, path.segments.slice(0, -1), async (directory) =>
    (await directory.look(name)).isDirectory(),
  );
}

/** Matches, up to a number of lines and an amount of text. */
class Collected {
  readonly matches: GrepMatch[] = [];
  isFull = false;
  readonly #most: number;
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** One more than there is room for, to know whether there are more. */
  get wanted(): number {
    return this.#most - this.matches.length + 1;
  }

  add(found: readonly GrepMatch[]): void {
    for (const match of found) {
      this.#size += Buffer.byteLength(JSON.stringify(match));
      if (this.matches.length === this.#most || (this.matches.length > 0 && this.#size > LARGEST_OUTPUT)) {
        this.isFull = true;
        return;
      }
      this.matches.push(match);
    }
  }
}
