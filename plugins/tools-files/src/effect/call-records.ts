import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { hasSystemCode } from '../root/system-error.js';

/**
 * What a file looks like before and after a call: a digest, or `absent`. Written right before a file is put in place
 * and read when nobody knows whether the call came that far.
 */
const callRecord = z.strictObject({ version: z.literal(1), before: z.string(), after: z.string() });
export type CallRecord = z.output<typeof callRecord>;

/** Keeps records outside the workspace, so that they are no part of its contents. */
export interface CallRecords {
  write(key: string, record: { readonly before: string; readonly after: string }): Promise<void>;
  /** The record, or `undefined` when there is none that can be trusted. */
  read(key: string): Promise<CallRecord | undefined>;
}

const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;
const PRIVATE = 0o700;
const RECORD_FILE = /^(?:[0-9a-f]{64}\.json|[0-9a-f]{24}\.tmp)$/;

export function defaultRecordFolder(): string {
  return join(tmpdir(), `perdure-tools-files-${process.getuid?.() ?? 'user'}`);
}

/**
 * Records in a folder that only this user can write. They survive the process but are not flushed: after a power cut
 * one may be missing, and then the file's content alone has to tell.
 *
 * @param onFailure told when a record could not be written; the call goes on without it
 */
export function createCallRecords(folder: string, onFailure: (error: unknown) => void): CallRecords {
  const place = resolve(folder);
  let ready: Promise<void> | undefined;
  return {
    write: async (key, record) => {
      try {
        ready ??= prepare(place);
        await ready;
        await writeRecord(place, key, { version: 1, ...record });
      } catch (error) {
        ready = undefined;
        onFailure(error);
      }
    },
    read: (key) => readRecord(place, key),
  };
}

function fileName(key: string): string {
  return `${createHash('sha256').update(key).digest('hex')}.json`;
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE });
  await requirePrivate(folder);
  const oldest = Date.now() - KEPT_MILLISECONDS;
  for (const name of await readdir(folder)) {
    if (!RECORD_FILE.test(name)) continue;
    const path = join(folder, name);
    const found = await lstat(path).catch(ignoreMissing);
    if (found?.isFile() === true && found.mtimeMs < oldest) await unlink(path).catch(ignoreMissing);
  }
}

/** A folder of temporary files is open to all: someone else may have made this one, or put a link in its place. */
async function requirePrivate(folder: string): Promise<void> {
  const found = await lstat(folder);
  const foreign = process.getuid !== undefined && (found.uid !== process.getuid() || (found.mode & 0o077) !== 0);
  if (!found.isDirectory() || foreign) throw new Error(`${folder} is not a private folder of this user`);
}

async function writeRecord(folder: string, key: string, record: CallRecord): Promise<void> {
  const temporary = join(folder, `${randomBytes(12).toString('hex')}.tmp`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(JSON.stringify(record));
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, fileName(key)));
}

async function readRecord(folder: string, key: string): Promise<CallRecord | undefined> {
  try {
    await requirePrivate(folder);
    const handle = await open(join(folder, fileName(key)), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return callRecord.parse(JSON.parse(await handle.readFile('utf8')));
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Whatever the cause, what cannot be read tells nothing, and the caller then goes by the file's content.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT')) return undefined;
  throw error;
}
