import type { Tools } from '@perdure/plugin-api';
import { createCallRecords, defaultRecordFolder, type CallRecords } from './effect/call-records.js';
import { resolveRoot } from './root/root.js';
import { editTool } from './tools/edit-tool.js';
import type { FileToolSetting } from './tools/file-tool.js';
import { findTool } from './tools/find-tool.js';
import { grepTool } from './tools/grep-tool.js';
import { listTool } from './tools/list-tool.js';
import { readTool } from './tools/read-tool.js';
import { writeTool } from './tools/write-tool.js';

export interface FileToolsOptions {
  /**
   * Absolute path of the folder for the records of calls; outside the workspace. A folder for this user when absent.
   */
  readonly recordFolder?: string | undefined;
  /** Told when the record of a call could not be written. The call goes on. */
  readonly onRecordFailure?: (error: unknown) => void;
}

/**
 * `read`, `write`, `edit`, `list`, `find` and `grep` for one folder, which they never leave. The folder need not exist
 * yet; calls fail with `path_not_found` until it does.
 */
export function fileTools(root: string, options: FileToolsOptions = {}): Tools {
  return toolsOf({ root: resolveRoot(root), records: recordsOf(options) });
}

export function recordsOf(options: FileToolsOptions): CallRecords {
  return createCallRecords(options.recordFolder ?? defaultRecordFolder(), options.onRecordFailure ?? (() => {}));
}

/** The tools with everything that they stand on. */
export function toolsOf(setting: FileToolSetting): Tools {
  return {
    read: readTool(setting),
    write: writeTool(setting),
    edit: editTool(setting),
    list: listTool(setting),
    find: findTool(setting),
    grep: grepTool(setting),
  };
}
