import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';

export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';

export function entryKind(entry: Dirent<Buffer>): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** The name as text, or `undefined` when it is not valid UTF-8 and can therefore not be asked for. */
export function entryName(entry: Dirent<Buffer>): string | undefined {
  return isUtf8(entry.name) ? entry.name.toString('utf8') : undefined;
}

/** Order of names: by UTF-16 code units, the same on every machine. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
