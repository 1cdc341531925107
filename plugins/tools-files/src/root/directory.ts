import { constants, type Dirent, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';

/** One name in a folder. Names that are not valid UTF-8 exist as bytes only. */
export type Name = string | Buffer;

export type FileAccess = 'read' | 'read-write';

/** A regular file, and what it looked like when it was opened. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/**
 * An open folder inside the workspace. Every name is one component, never a path, and never followed when it is a
 * symbolic link, so what is reached through a folder is inside it. Failures are those of the system, with a `code`.
 */
export interface Directory {
  /** Below the workspace; empty for the workspace itself. */
  readonly path: string;
  /** Where the folder is for other programs, when it is reached by its path and not by a descriptor. */
  readonly location: string | undefined;
  entries(): Promise<readonly Dirent<Buffer>[]>;
  /** Looks at a name without following it. */
  look(name: Name): Promise<Stats>;
  readLink(name: Name): Promise<Buffer>;
  /** Opens a folder by a name that someone gave; `ESPELLING` when the folder is spelled in another way on disk. */
  openDirectory(name: string): Promise<Directory>;
  /**
   * Opens a regular file by a name that someone gave, `ESPELLING` as above; `ENOTREG` for anything else that is not a
   * link. Never waits for a FIFO.
   */
  openFile(name: string, access: FileAccess): Promise<OpenedFile>;
  /** Opens a folder that `entries` has told. */
  openListedDirectory(name: Name): Promise<Directory>;
  /** Opens a file that `entries` has told, for reading. */
  openListedFile(name: Name): Promise<OpenedFile>;
  /** Creates a file for writing; `EEXIST` when there is anything of that name. */
  createFile(name: string, mode: number): Promise<FileHandle>;
  /** Makes a folder and its name durable. */
  makeDirectory(name: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(name: string): Promise<void>;
  /** Makes the names in the folder durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Flags that a platform lacks count as none. */
const flag = (name: 'O_NOFOLLOW' | 'O_NONBLOCK' | 'O_NOCTTY' | 'O_DIRECTORY'): number => constants[name] ?? 0;

const UNFOLLOWED = flag('O_NOFOLLOW') | flag('O_NOCTTY');
export const OPEN_DIRECTORY = constants.O_RDONLY | flag('O_DIRECTORY') | UNFOLLOWED;
export const CREATE_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | UNFOLLOWED;

export function openFlags(access: FileAccess): number {
  const mode = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
  return mode | UNFOLLOWED | flag('O_NONBLOCK');
}

const SEPARATOR = process.platform === 'win32' ? /[/\\\0]/ : /[/\0]/;

/** Refuses what is not one component. Callers check paths before; this holds when one of them does not. */
export function checkedName(name: Name): Name {
  const text = typeof name === 'string' ? name : name.toString('latin1');
  if (text === '' || text === '.' || text === '..' || SEPARATOR.test(text)) {
    throw new RangeError(`not one component of a path: ${JSON.stringify(text)}`);
  }
  return name;
}

export function childPath(path: string, name: Name): string {
  const text = typeof name === 'string' ? name : name.toString('utf8');
  return path === '' ? text : `${path}/${text}`;
}

export function joined(base: string, name: Name): string | Buffer {
  const checked = checkedName(name);
  const prefix = base.endsWith(sep) ? base : base + sep;
  return typeof checked === 'string' ? prefix + checked : Buffer.concat([Buffer.from(prefix), checked]);
}
