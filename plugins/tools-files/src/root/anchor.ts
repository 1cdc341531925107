import type { FileHandle } from 'node:fs/promises';
import type { Name } from './directory.js';

/** How an open folder is held, so that a name in it cannot lead to another folder. */
export interface Anchor {
  /** The path that names are appended to. */
  readonly base: string;
  /** Where the folder is for other programs; undefined when `base` has a meaning for this process alone. */
  readonly location: string | undefined;
  /** Throws `ESWAPPED` when `base` leads to another folder than the one that was opened. */
  confirm(): Promise<void>;
  /** The same for a file that was just opened by its name. */
  confirmFile(name: Name, handle: FileHandle): Promise<void>;
  /** Opens a folder by its name; `ELOOP` for a link, `ENOTDIR` for anything else that is not a folder. */
  enter(name: Name): Promise<Anchor>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
