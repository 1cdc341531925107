import type { JsonValue } from '@perdure/events';
import type { Reconciliation } from '@perdure/plugin-api';
import { isFileFailure, type FileErrorCode } from '../failure.js';
import type { OpenedFile } from '../root/directory.js';
import { withDirectory, type Root } from '../root/root.js';
import { failureOf, hasSystemCode } from '../root/system-error.js';
import type { WorkspacePath } from '../root/workspace-path.js';
import type { CallRecord } from './call-records.js';
import { readContent, type FileContent } from './file-version.js';
import { discardTemporary } from './replace-file.js';

/** A file as it is: its digest, or a word for why there is none. */
export interface FileState {
  /** 64 hex digits, `absent`, `large`, or `refused` for what the tools do not touch. */
  readonly version: string;
  readonly content?: FileContent;
}

export const ABSENT = 'absent';
const LARGE = 'large';
const REFUSED = 'refused';

const refusals: readonly FileErrorCode[] = [
  'invalid_path',
  'not_a_directory',
  'not_a_file',
  'permission_denied',
  'sandbox_denied',
];

/**
 * Reads the file that a call may have changed, and removes what a dead run of the call left beside it. Without its
 * temporary file a run that was only paused cannot finish either.
 */
export async function fileStateAfterCrash(root: Root, path: WorkspacePath, key: string): Promise<FileState> {
  const name = path.segments.at(-1);
  if (name === undefined) return { version: REFUSED };
  try {
    return await withDirectory(root, path.segments.slice(0, -1), async (directory) => {
      await discardTemporary(directory, key, name);
      const file = await directory.openFile(name, 'read');
      try {
        return await fileState(file, path.given);
      } finally {
        await file.handle.close();
      }
    });
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return { version: ABSENT };
    const failure = isFileFailure(error) ? error : failureOf(error, path.given);
    if (refusals.includes(failure.code)) return { version: REFUSED };
    throw failure;
  }
}

/** The state of an open file. One that is too large to be read has no digest. */
export async function fileState(file: OpenedFile, given: string): Promise<FileState> {
  try {
    const content = await readContent(file, given);
    return { version: content.sha256, content };
  } catch (error) {
    if (isFileFailure(error) && error.code === 'file_too_large') return { version: LARGE };
    throw error;
  }
}

/**
 * What the record of a call says about the file as it is.
 *
 * @param output what the call gives when it took effect
 */
export function reconcileByRecord(record: CallRecord, state: FileState, output: JsonValue): Reconciliation {
  if (state.version === record.after) return { status: 'happened', output };
  return state.version === record.before ? { status: 'voided' } : { status: 'unknown' };
}
