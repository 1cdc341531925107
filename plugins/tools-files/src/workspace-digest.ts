import { createHash, type Hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { openRoot, type Root } from './root/root.js';
import type { Directory } from './root/directory.js';
import { entryKind, type EntryKind } from './search/entry.js';

const PIECE = 256 * 1024;
/** Each level keeps one folder open. */
const DEEPEST = 256;
/** Files of one folder that are read at the same time. */
const PARALLEL = 8;

/**
 * Digest of names, kinds and contents, `sha256:<64 hex>`. A folder's digest is over its entries in the order of their
 * bytes, each as kind, length of the name, name and digest; a link counts by the path that it holds, and neither modes
 * nor times count. Throws what the system throws, also when something changes while it is read.
 */
export async function workspaceDigest(root: Root): Promise<string> {
  const directory = await openRoot(root);
  try {
    return `sha256:${(await digestFolder(directory, 0)).toString('hex')}`;
  } finally {
    await directory.close();
  }
}

async function digestFolder(directory: Directory, depth: number): Promise<Buffer> {
  if (depth > DEEPEST) throw new Error(`"${directory.path}" is nested more than ${DEEPEST} folders deep`);
  const entries = [...(await directory.entries())].sort((one, other) => Buffer.compare(one.name, other.name));
  const digests = await inParallel(entries, PARALLEL, (entry) =>
    entry.isDirectory() ? Promise.resolve(undefined) : digestEntry(directory, entry),
  );
  const hash = createHash('sha256').update('perdure.folder.v1\n');
  for (const [index, entry] of entries.entries()) {
    const digest = digests[index] ?? (await digestChild(directory, entry, depth + 1));
    addEntry(hash, entry, digest);
  }
  return hash.digest();
}

async function digestChild(directory: Directory, entry: Dirent<Buffer>, depth: number): Promise<Buffer> {
  const child = await directory.openListedDirectory(entry.name);
  try {
    return await digestFolder(child, depth);
  } finally {
    await child.close();
  }
}

const marks: Readonly<Record<EntryKind, string>> = { file: 'f', directory: 'd', symlink: 'l', other: 'o' };

function addEntry(hash: Hash, entry: Dirent<Buffer>, digest: Buffer): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(entry.name.length);
  hash.update(marks[entryKind(entry)]).update(length).update(entry.name).update(digest);
}

async function digestEntry(directory: Directory, entry: Dirent<Buffer>): Promise<Buffer> {
  const kind = entryKind(entry);
  const hash = createHash('sha256');
  if (kind === 'symlink') hash.update(await directory.readLink(entry.name));
  if (kind === 'file') await addFile(hash, directory, entry.name);
  return hash.digest();
}

async function addFile(hash: Hash, directory: Directory, name: Buffer): Promise<void> {
  const { handle, stats } = await directory.openListedFile(name);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(stats.size + 1, PIECE));
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      hash.update(buffer.subarray(0, bytesRead));
      // A regular file gives less than was asked for only at its end.
      if (bytesRead < buffer.length) return;
    }
  } finally {
    await handle.close();
  }
}

/** Results in the order of the items; the first failure is thrown once all that was begun has ended. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += most) {
    const settled = await Promise.allSettled(items.slice(from, from + most).map(work));
    for (const result of settled) {
      if (result.status === 'rejected') throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}
