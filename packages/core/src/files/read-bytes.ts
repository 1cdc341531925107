import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { cutText, PerdureError } from '@perdure/plugin-api';
import type { FileSource } from './given-file.js';
import { openedPath } from './opened-path.js';

const CHUNK = 256 * 1024;

/** Which bytes are wanted, of what, and how many there may be. */
export interface ByteRequest {
  readonly source: Exclude<FileSource, { readonly digest: string }>;
  readonly field: string;
  readonly limit: number;
  readonly workspace: string | undefined;
}

/** Reads what was given. Throws PERDURE_INPUT_INVALID naming the field, also when there is more than the limit. */
export async function readBytes({ source, field, limit, workspace }: ByteRequest): Promise<Uint8Array> {
  if ('bytes' in source) {
    if (source.bytes.byteLength > limit) throw tooLarge(field, limit);
    return source.bytes;
  }
  if ('encoded' in source) return decoded(source.encoded, source.isBase64, field, limit);
  try {
    return await readPath(source.path, field, limit, workspace);
  } catch (error) {
    if (error instanceof PerdureError) throw error;
    throw invalid(field, `${reasonOfSystem(error)}: ${cutText(source.path, 200)}`);
  }
}

function decoded(text: string, isBase64: boolean, field: string, limit: number): Uint8Array {
  if (text.length > limit * 3) throw tooLarge(field, limit);
  let bytes: Uint8Array;
  if (isBase64) {
    if (!/^[\w+/\s-]*={0,2}\s*$/.test(text)) throw invalid(field, 'it is not base64');
    bytes = Buffer.from(text, 'base64');
  } else {
    try {
      bytes = Buffer.from(decodeURIComponent(text));
    } catch {
      throw invalid(field, 'its data URL is not percent-encoded text');
    }
  }
  if (bytes.byteLength > limit) throw tooLarge(field, limit);
  return bytes;
}

async function readPath(
  path: string,
  field: string,
  limit: number,
  workspace: string | undefined,
): Promise<Uint8Array> {
  const root = isAbsolute(path) ? undefined : await rootOf(workspace, field);
  const target = root === undefined ? path : await realpath(resolve(root, path));
  if (root !== undefined) assertInside(target, root, field);
  // Looked at before it is opened: opening a device may do something.
  assertFile(await stat(target), field);
  const handle = await open(target, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  try {
    const { size } = assertFile(await handle.stat(), field);
    if (root !== undefined) assertInside(await openedPath(handle, target), root, field);
    if (size > limit) throw tooLarge(field, limit);
    return await readAll(handle, field, limit);
  } finally {
    await handle.close();
  }
}

async function rootOf(workspace: string | undefined, field: string): Promise<string> {
  if (workspace === undefined) throw invalid(field, 'it is relative, and the session has no workspace');
  return realpath(workspace);
}

function assertInside(path: string | undefined, root: string, field: string): void {
  const prefix = root.endsWith(sep) ? root : `${root}${sep}`;
  if (path?.startsWith(prefix) !== true) throw invalid(field, 'it leads out of the workspace; an absolute path may');
}

function assertFile<Stats extends { isFile(): boolean; isDirectory(): boolean }>(stats: Stats, field: string): Stats {
  if (stats.isDirectory()) throw invalid(field, 'it is a folder');
  if (!stats.isFile()) throw invalid(field, 'it is not a regular file');
  return stats;
}

/** The file may grow while it is read. */
async function readAll(handle: FileHandle, field: string, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, total);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > limit) throw tooLarge(field, limit);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read',
  EPERM: 'it may not be read',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
  ENXIO: 'it is not a regular file',
};

function reasonOfSystem(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  const known = typeof code === 'string' ? SYSTEM_REASONS[code] : undefined;
  return known ?? `it could not be read${typeof code === 'string' ? ` (${code})` : ''}`;
}

function tooLarge(field: string, limit: number): PerdureError {
  return invalid(field, `it has more than the ${limit} bytes that are left for it by "files" and the store`);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
