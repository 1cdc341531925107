import { closeSync, openSync } from 'node:fs';

/**
 * Makes a file that only its owner can read, unless it is there. A file that is there is not opened: closing it would
 * release the locks that SQLite holds on it in this process.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
