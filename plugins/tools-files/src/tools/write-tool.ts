import type { Stats } from 'node:fs';
import type { Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { sha256Of } from '../effect/file-version.js';
import { inOrder } from '../effect/in-order.js';
import { ABSENT, fileState, fileStateAfterCrash, reconcileByRecord, type FileState } from '../effect/reconcile-file.js';
import { replaceFile } from '../effect/replace-file.js';
import { fileFailure, quoted } from '../failure.js';
import type { Directory } from '../root/directory.js';
import { withCreatedDirectory, withDirectory } from '../root/root.js';
import { hasSystemCode } from '../root/system-error.js';
import { hasLoneSurrogate } from '../text/encoding.js';
import { describeFile } from './describe-file.js';
import { fileTool, type FileCall, type FileToolSetting } from './file-tool.js';
import { expectedSha256, filePath } from './input.js';

const LARGEST_CONTENT = 1024 * 1024;

const input = z.strictObject({
  file_path: filePath,
  content: z.string().describe('The whole content of the file, written exactly as given, as UTF-8. At most 1 MiB.'),
  overwrite: z
    .boolean()
    .default(false)
    .describe('Whether a file that exists may be replaced. False: fail with file_exists unless it has this content.'),
  expected_sha256: expectedSha256,
});
type Input = z.output<typeof input>;

export function writeTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'write',
    description:
      'Writes a whole file in one step, and creates missing parent folders. ' +
      'To change part of a file, use edit. An existing file is only replaced with overwrite: true.',
    inputSchema: input,
    effect: 'reconcile',
    missing: 'file_not_found',
    pathOf: (given) => given.file_path,
    execute: async (call) => {
      const bytes = contentBytes(call.input);
      const name = fileName(call);
      const place = [call.root.folder, ...call.path.segments].join('/');
      await inOrder(place, () =>
        reachFolder(call)(call.root, call.path.segments.slice(0, -1), (directory) =>
          writeInto(directory, name, bytes, call),
        ),
      );
      return describeFile(call.path.relative, bytes, await sha256Of(bytes));
    },
    reconcile: async (call) => {
      const bytes = contentBytes(call.input);
      const after = await sha256Of(bytes);
      const state = await fileStateAfterCrash(call.root, call.path, call.key);
      const output = await describeFile(call.path.relative, bytes, after);
      const record = await call.records.read(call.key);
      if (record !== undefined) return reconcileByRecord(record, state, output);
      // Without a record the file may never have been touched; a repeat then does just what the call asks for.
      return state.version === after ? { status: 'happened', output } : { status: 'voided' };
    },
  });
}

/** Who expects a version expects the file to exist, and then no folder is missing. */
function reachFolder(call: FileCall<Input>): typeof withDirectory {
  return call.input.expected_sha256 === undefined ? withCreatedDirectory : withDirectory;
}

function contentBytes({ content }: Input): Buffer {
  if (hasLoneSurrogate(content)) throw fileFailure('encoding_error', 'The content holds half of a surrogate pair.');
  const bytes = Buffer.from(content);
  if (bytes.length <= LARGEST_CONTENT) return bytes;
  throw fileFailure('content_too_large', `The content has ${bytes.length} bytes; the limit is ${LARGEST_CONTENT}.`);
}

function fileName(call: FileCall<Input>): string {
  const name = call.path.segments.at(-1);
  if (name === undefined) throw fileFailure('not_a_file', `${quoted(call.path.given)} is the workspace, not a file.`);
  return name;
}

/** A file that already has the content is left alone, so that a repeat of a call that took effect succeeds too. */
async function writeInto(directory: Directory, name: string, bytes: Buffer, call: FileCall<Input>): Promise<void> {
  const { input: asked, path, key, signal } = call;
  const old = await existing(directory, name, call);
  if (old.content?.bytes.equals(bytes) === true) return;
  if (old.stats !== undefined && !asked.overwrite) {
    throw fileFailure('file_exists', `${quoted(path.given)} exists already; use edit, or overwrite: true.`);
  }
  if (asked.expected_sha256 !== undefined && old.version !== asked.expected_sha256) {
    throw fileFailure('file_changed', `${quoted(path.given)} is not the expected version; it is ${old.version}.`);
  }
  await call.records.write(key, { before: old.version, after: await sha256Of(bytes) });
  await replaceFile(directory, { name, bytes, key, replaces: old.stats, given: path.given, signal });
}

async function existing(
  directory: Directory,
  name: string,
  call: FileCall<Input>,
): Promise<FileState & { readonly stats?: Stats }> {
  let file;
  try {
    // To replace a file is to write it: that it may be written is checked by opening it so.
    file = await directory.openFile(name, call.input.overwrite ? 'read-write' : 'read');
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return { version: ABSENT };
    throw error;
  }
  try {
    return { stats: file.stats, ...(await fileState(file, call.path.given)) };
  } finally {
    await file.handle.close();
  }
}
