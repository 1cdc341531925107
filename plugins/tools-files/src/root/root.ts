import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileFailure } from '../failure.js';
import { anchoredDirectory } from './anchored-directory.js';
import { descriptorAnchor } from './descriptor-anchor.js';
import type { Directory } from './directory.js';
import { pathAnchor } from './path-anchor.js';
import { hasSystemCode } from './system-error.js';

/** A workspace folder. */
export interface Root {
  /** Real path. The root is only used as long as this path leads to itself, through no link. */
  readonly folder: string;
  /** The absolute spellings by which a model may name the folder. */
  readonly bases: readonly string[];
  readonly anchoring: Anchoring;
}

/** How folders are held: by descriptors (Linux), or by paths that are confirmed around each use. */
export type Anchoring = 'descriptors' | 'paths';

const usualAnchoring: Anchoring = process.platform === 'linux' ? 'descriptors' : 'paths';

/** The root of a folder whose real path is known. It is looked at when it is used, not here. */
export function createRoot(folder: string, anchoring: Anchoring = usualAnchoring): Root {
  return { folder, bases: [folder], anchoring };
}

/** The root of a folder as a person gives it: relative, or through links. What it leads to is found out once, here. */
export function resolveRoot(folder: string): Root {
  const given = resolve(folder);
  const real = realPathOf(given) ?? given;
  return { folder: real, bases: real === given ? [real] : [real, given], anchoring: usualAnchoring };
}

/** `undefined` for a folder that does not exist yet; each call will then say so. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Opens the folder of these segments for as long as `use` runs. Links are refused at every segment. */
export async function withDirectory<T>(
  root: Root,
  segments: readonly string[],
  use: (directory: Directory) => Promise<T>,
): Promise<T> {
  return descend(root, segments, (directory, segment) => directory.openDirectory(segment), use);
}

/** The same, and creates the folders that are missing. */
export async function withCreatedDirectory<T>(
  root: Root,
  segments: readonly string[],
  use: (directory: Directory) => Promise<T>,
): Promise<T> {
  return descend(root, segments, openOrCreate, use);
}

/** Opens the workspace itself. The caller closes it. */
export async function openRoot(root: Root): Promise<Directory> {
  try {
    const anchor = await (root.anchoring === 'descriptors' ? descriptorAnchor(root.folder) : pathAnchor(root.folder));
    return anchoredDirectory(anchor, '');
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ESWAPPED')) {
      throw fileFailure('path_not_found', 'The workspace is not there: its path leads to no folder of its own.', {
        cause: error,
      });
    }
    const system = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const reason = system ?? (error instanceof Error ? error.message : String(error));
    throw fileFailure('internal_error', `The workspace cannot be opened: ${reason}.`, { cause: error });
  }
}

async function descend<T>(
  root: Root,
  segments: readonly string[],
  enter: (directory: Directory, segment: string) => Promise<Directory>,
  use: (directory: Directory) => Promise<T>,
): Promise<T> {
  let directory = await openRoot(root);
  try {
    for (const segment of segments) {
      const next = await enter(directory, segment);
      const left = directory;
      directory = next;
      await left.close();
    }
    return await use(directory);
  } finally {
    await directory.close();
  }
}

async function openOrCreate(directory: Directory, segment: string): Promise<Directory> {
  try {
    return await directory.openDirectory(segment);
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
  }
  try {
    await directory.makeDirectory(segment);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
  }
  return directory.openDirectory(segment);
}
