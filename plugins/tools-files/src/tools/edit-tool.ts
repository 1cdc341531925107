import type { Reconciliation, Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { LARGEST_FILE, readContent, sha256Of, type FileContent } from '../effect/file-version.js';
import { inOrder } from '../effect/in-order.js';
import { fileStateAfterCrash, reconcileByRecord } from '../effect/reconcile-file.js';
import { replaceFile } from '../effect/replace-file.js';
import { fileFailure, isFileFailure, quoted } from '../failure.js';
import type { Directory } from '../root/directory.js';
import { withDirectory } from '../root/root.js';
import { applyEdits, type Edit } from '../text/apply-edits.js';
import { couldBeEdited, undoEdits } from '../text/undo-edits.js';
import { decodeText, encodeText, type DecodedText } from '../text/encoding.js';
import { describeFile, type FileDescription } from './describe-file.js';
import { fileTool, type FileCall, type FileToolSetting } from './file-tool.js';
import { expectedSha256, filePath } from './input.js';

const MOST_EDITS = 50;
const LONGEST_OLD_TEXT = 10_000;
const LONGEST_NEW_TEXT = 50_000;

const edit = z.strictObject({
  old_text: z
    .string()
    .min(1)
    .describe(
      `Text that stands once in the file, with enough around it to be unique; at most ${LONGEST_OLD_TEXT} characters.`,
    ),
  new_text: z.string().describe(`What takes its place; at most ${LONGEST_NEW_TEXT} characters. Empty to delete.`),
});

const input = z.strictObject({
  file_path: filePath,
  edits: z
    .array(edit)
    .describe(`1 to ${MOST_EDITS} edits that do not overlap. All refer to the file as it is before the call.`),
  expected_sha256: expectedSha256,
});
type Input = z.output<typeof input>;

export function editTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'edit',
    description:
      'Replaces exact pieces of a text file: all edits are made or none. ' +
      'Read the file first. Line ends and encoding are kept; write line breaks in old_text and new_text as \\n.',
    inputSchema: input,
    effect: 'reconcile',
    missing: 'file_not_found',
    pathOf: (given) => given.file_path,
    execute: async (call) => {
      checkSizes(call.input.edits);
      const name = call.path.segments.at(-1);
      if (name === undefined) {
        throw fileFailure('not_a_file', `${quoted(call.path.given)} is the workspace, not a file.`);
      }
      const place = [call.root.folder, ...call.path.segments].join('/');
      const edited = await inOrder(place, () =>
        withDirectory(call.root, call.path.segments.slice(0, -1), (directory) => editIn(directory, name, call)),
      );
      return outputOf(call, edited);
    },
    reconcile: async (call) => {
      checkSizes(call.input.edits);
      const state = await fileStateAfterCrash(call.root, call.path, call.key);
      const output = state.content === undefined ? null : await outputOf(call, state.content);
      const record = await call.records.read(call.key);
      if (record !== undefined) return reconcileByRecord(record, state, output);
      // Without a record and a file, a repeat fails as the call would have failed.
      if (state.content === undefined || output === null) return { status: 'voided' };
      return reconcileByContent(call.input, state.content, output);
    },
  });
}

async function outputOf(
  call: FileCall<Input>,
  file: EditedFile,
): Promise<FileDescription & { readonly edits: number }> {
  return { ...(await describeFile(call.path.relative, file.bytes, file.sha256)), edits: call.input.edits.length };
}

function checkSizes(edits: readonly Edit[]): void {
  if (edits.length === 0) throw fileFailure('no_edits', 'There are no edits.');
  if (edits.length > MOST_EDITS) {
    throw fileFailure('too_many_edits', `There are ${edits.length} edits; the limit is ${MOST_EDITS}.`);
  }
  for (const [index, { old_text, new_text }] of edits.entries()) {
    if (old_text.length <= LONGEST_OLD_TEXT && new_text.length <= LONGEST_NEW_TEXT) continue;
    throw fileFailure(
      'edit_too_large',
      `Edit ${index} is too long: old_text may have ${LONGEST_OLD_TEXT} characters, new_text ${LONGEST_NEW_TEXT}.`,
      { data: { edit: index } },
    );
  }
}

interface EditedFile {
  readonly bytes: Buffer;
  readonly sha256: string;
}

async function editIn(directory: Directory, name: string, call: FileCall<Input>): Promise<EditedFile> {
  const { input: asked, path, key, signal } = call;
  const old = await writableContent(directory, name, path.given);
  if (asked.expected_sha256 !== undefined && old.sha256 !== asked.expected_sha256) {
    throw fileFailure('file_changed', `${quoted(path.given)} is not the expected version; it is ${old.sha256}.`);
  }
  const bytes = editedBytes(textOf(old, path.given), asked.edits);
  if (bytes.equals(old.bytes)) throw fileFailure('no_edits', 'The edits leave the file as it is.');
  if (bytes.length > LARGEST_FILE) {
    throw fileFailure('edit_too_large', `${quoted(path.given)} would be larger than ${LARGEST_FILE} bytes.`);
  }
  const sha256 = await sha256Of(bytes);
  await call.records.write(key, { before: old.sha256, after: sha256 });
  await replaceFile(directory, { name, bytes, key, replaces: old.stats, given: path.given, signal });
  return { bytes, sha256 };
}

async function writableContent(directory: Directory, name: string, given: string): Promise<FileContent> {
  const file = await directory.openFile(name, 'read-write');
  try {
    return await readContent(file, given);
  } finally {
    await file.handle.close();
  }
}

function textOf(content: FileContent, given: string): DecodedText {
  const decoded = decodeText(content.bytes);
  if (decoded === 'binary') throw fileFailure('binary_file', `${quoted(given)} is a binary file.`);
  if (decoded === 'invalid') {
    throw fileFailure('encoding_error', `${quoted(given)} is not valid UTF-8, and not UTF-16 with a byte order mark.`);
  }
  return decoded;
}

function editedBytes(decoded: DecodedText, edits: readonly Edit[]): Buffer {
  return encodeText({ ...decoded, text: applyEdits(decoded.text, edits) });
}

/**
 * Without a record the content alone has to tell whether the edits were made: it may be such that they can be made, or
 * such that they can be undone, or both.
 */
async function reconcileByContent(
  asked: Input,
  content: FileContent,
  output: FileDescription,
): Promise<Reconciliation> {
  const decoded = decodeText(content.bytes);
  if (typeof decoded === 'string') return { status: 'voided' };
  const before = undoEdits(decoded.text, asked.edits);
  if (asked.expected_sha256 !== undefined) {
    if (content.sha256 === asked.expected_sha256) return { status: 'voided' };
    if (before === undefined) return { status: 'unknown' };
    const undone = await sha256Of(encodeText({ ...decoded, text: before }));
    return undone === asked.expected_sha256 ? { status: 'happened', output } : { status: 'unknown' };
  }
  const canBeMade = succeeds(() => applyEdits(decoded.text, asked.edits));
  if (before !== undefined) return canBeMade ? { status: 'unknown' } : { status: 'happened', output };
  return canBeMade || !couldBeEdited(decoded.text, asked.edits) ? { status: 'voided' } : { status: 'unknown' };
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if (isFileFailure(error)) return false;
    throw error;
  }
}
