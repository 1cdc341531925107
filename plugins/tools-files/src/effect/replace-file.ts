import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { fileFailure, quoted, throwIfAborted } from '../failure.js';
import type { Directory } from '../root/directory.js';
import { hasSystemCode } from '../root/system-error.js';
import { isUnchanged } from './file-version.js';

export interface Replacement {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Key of the call. The temporary file is named after it, so that a later run of the call finds and removes it. */
  readonly key: string;
  /** The file that is replaced, as it was read; undefined to create one and never replace any. */
  readonly replaces: Stats | undefined;
  readonly given: string;
  readonly signal: AbortSignal;
}

/**
 * Puts a file in place in one step: readers see the old content or all of the new one, and so does whoever comes after
 * a crash. The content is durable before its name, and the name before this resolves.
 *
 * @throws FileFailure `file_changed` when what is replaced is not what was read any more; `EEXIST` when a file to be
 * created exists
 */
export async function replaceFile(directory: Directory, change: Replacement): Promise<void> {
  const temporary = temporaryName(change.key, change.name);
  try {
    await writeTemporary(directory, temporary, change);
    throwIfAborted(change.signal);
    if (change.replaces === undefined) await publishNew(directory, temporary, change.name);
    else await publishOver(directory, temporary, change, change.replaces);
  } finally {
    await removeTemporary(directory, temporary);
  }
  await directory.sync();
}

/** Removes what a run of the call left behind when it died before its file was in place. */
export async function discardTemporary(directory: Directory, key: string, name: string): Promise<void> {
  await removeTemporary(directory, temporaryName(key, name));
}

function temporaryName(key: string, name: string): string {
  return `.perdure-${createHash('sha256').update(`${key}\0${name}`).digest('hex').slice(0, 32)}.tmp`;
}

async function removeTemporary(directory: Directory, temporary: string): Promise<void> {
  try {
    await directory.unlink(temporary);
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
  }
}

async function writeTemporary(directory: Directory, temporary: string, change: Replacement): Promise<void> {
  // What replaces a private file is never readable for others, not even half written.
  const handle = await createAnew(directory, temporary, change.replaces === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(change.bytes);
    if (change.replaces !== undefined) await keepAccess(handle, change.replaces);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function createAnew(directory: Directory, temporary: string, mode: number): Promise<FileHandle> {
  try {
    return await directory.createFile(temporary, mode);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
  }
  await directory.unlink(temporary);
  return directory.createFile(temporary, mode);
}

/**
 * Gives the new file the permission bits, and where the system permits it the owner and group, of the old one. A group
 * that cannot be kept gets no more than everyone, and set-user-id bits are not carried over to other content.
 */
async function keepAccess(handle: FileHandle, old: Stats): Promise<void> {
  if (process.platform === 'win32') return;
  const made = await handle.stat();
  let mode = old.mode & 0o777;
  if (made.uid !== old.uid || made.gid !== old.gid) {
    const kept = (await changeOwner(handle, old.uid, old.gid)) || (await changeOwner(handle, made.uid, old.gid));
    if (!kept) mode = (mode & 0o707) | ((mode & 0o007) << 3);
  }
  await handle.chmod(mode);
}

async function changeOwner(handle: FileHandle, user: number, group: number): Promise<boolean> {
  try {
    await handle.chown(user, group);
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'EPERM', 'EACCES', 'EINVAL')) return false;
    throw error;
  }
}

async function publishOver(
  directory: Directory,
  temporary: string,
  change: Replacement,
  replaces: Stats,
): Promise<void> {
  const now = await directory.look(change.name).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (now === undefined || !isUnchanged(replaces, now)) {
    throw fileFailure(
      'file_changed',
      `${quoted(change.given)} was changed meanwhile by something else; read it again.`,
    );
  }
  await directory.rename(temporary, change.name);
}

/** A link, unlike a rename, fails when the name is taken. */
async function publishNew(directory: Directory, temporary: string, name: string): Promise<void> {
  try {
    await directory.link(temporary, name);
  } catch (error) {
    if (!hasSystemCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
    await publishByPlaceholder(directory, temporary, name);
  }
}

/**
 * For file systems without hard links: takes the name with an empty file, then replaces that. A crash between the two
 * leaves the empty file, which a later run reports as a file that exists.
 */
export async function publishByPlaceholder(directory: Directory, temporary: string, name: string): Promise<void> {
  await (await directory.createFile(name, 0o666)).close();
  await directory.rename(temporary, name);
}
