import { randomUUID } from 'node:crypto';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What temporary files begin with; no key has such a file. */
export const TEMPORARY = '.tmp-';

/**
 * Puts a text in the place of a file: at any moment there is the old one or the new one, whole, and the new one is on
 * the disk when the promise resolves. What a process leaves behind that dies in the middle is a temporary file.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = `${folder}/${TEMPORARY}${randomUUID()}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await file.close();
    await unlink(temporary);
    throw error;
  }
  await file.close();
  await rename(temporary, path);
  await syncFolder(folder);
}

/** What was renamed or removed in a folder is on the disk when the promise resolves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
