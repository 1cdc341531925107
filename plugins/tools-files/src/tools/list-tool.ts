import type { Dirent } from 'node:fs';
import type { JsonValue } from '@perdure/events';
import type { Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { throwIfAborted } from '../failure.js';
import type { Directory } from '../root/directory.js';
import { withDirectory } from '../root/root.js';
import { hasSystemCode } from '../root/system-error.js';
import { compareText, entryKind, entryName } from '../search/entry.js';
import { wholeCharacters } from '../text/line-window.js';
import { fileTool, type FileToolSetting } from './file-tool.js';
import { folderPath, resultLimit } from './input.js';

const LONGEST_TARGET = 500;

const input = z.strictObject({
  path: folderPath,
  limit: resultLimit(2000, 200).describe('The most entries to return.'),
  cursor: z.string().optional().describe('next_cursor of the call before, to go on after it.'),
});

export function listTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'list',
    description:
      'Lists one folder, sorted by name, with hidden and ignored entries: file (size in bytes), directory, ' +
      'symlink (target) or other. When truncated is true, go on with cursor: next_cursor.',
    inputSchema: input,
    effect: 'read',
    missing: 'path_not_found',
    pathOf: (given) => given.path,
    execute: (call) =>
      withDirectory(call.root, call.path.segments, async (directory) => {
        const { cursor, limit } = call.input;
        const all = (await directory.entries()).map((entry) => ({ entry, name: entryName(entry) }));
        const named = all.flatMap(({ entry, name }) => (name === undefined ? [] : [{ entry, name }]));
        named.sort((one, other) => compareText(one.name, other.name));
        const following = cursor === undefined ? named : named.filter(({ name }) => name > cursor);
        const page = following.slice(0, limit);
        const entries: JsonValue[] = [];
        for (const { entry, name } of page) {
          throwIfAborted(call.signal);
          const described = await describeEntry(directory, entry, name);
          if (described !== undefined) entries.push(described);
        }
        const last = page.at(-1)?.name;
        const truncated = following.length > page.length;
        return {
          path: call.path.relative,
          entries,
          total_entries: all.length,
          truncated,
          ...(truncated && last !== undefined ? { next_cursor: last } : {}),
          ...(named.length === all.length ? {} : { names_not_utf8: all.length - named.length }),
        };
      }),
  });
}

/** `undefined` for an entry that is gone since the folder was read. */
async function describeEntry(
  directory: Directory,
  entry: Dirent<Buffer>,
  name: string,
): Promise<JsonValue | undefined> {
  const kind = entryKind(entry);
  try {
    if (kind === 'file') return { name, kind, size: (await directory.look(name)).size };
    if (kind === 'symlink') {
      const target = (await directory.readLink(name)).toString('utf8');
      return { name, kind, target: wholeCharacters(target, LONGEST_TARGET) };
    }
    return { name, kind };
  } catch (error) {
    // EINVAL: it was a link and is none any more.
    if (hasSystemCode(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}
