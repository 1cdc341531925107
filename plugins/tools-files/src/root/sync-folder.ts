import type { FileHandle } from 'node:fs/promises';
import { hasSystemCode } from './system-error.js';

/** Makes the names in an open folder durable, as far as the file system can: some have no such request for folders. */
export async function syncFolder(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!hasSystemCode(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP')) throw error;
  }
}
