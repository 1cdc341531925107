import type { JsonValue } from '@perdure/events';
import type { Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { searchPattern } from '../glob/search-pattern.js';
import { walkFolders, type WalkLosses } from '../search/walk.js';
import { fileTool, type FileToolSetting } from './file-tool.js';
import { folderPath, resultLimit } from './input.js';

const input = z.strictObject({
  pattern: z
    .string()
    .describe(
      'Glob for the path below the folder: * and ? within a name, ** for any folders, [abc], {a,b}. ' +
        '*.ts finds files of the folder itself, **/*.ts also those below.',
    ),
  path: folderPath,
  max_results: resultLimit(2000, 200).describe('The most files to return.'),
});

export function findTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'find',
    description:
      'Finds files by a glob pattern, hidden ones included; the files of a folder come before those of its folders. ' +
      'What .gitignore files leave out, .git and symbolic links are skipped.',
    inputSchema: input,
    effect: 'read',
    missing: 'path_not_found',
    pathOf: (given) => given.path,
    execute: async (call) => {
      const { pattern, max_results: most } = call.input;
      const matches = searchPattern(pattern);
      const start = call.path.segments;
      const losses: WalkLosses = { unreadableFolders: 0, tooMany: false };
      const files: string[] = [];
      let more = false;
      for await (const { segments, names } of walkFolders(call.root, start, losses, call.signal)) {
        const below = segments.slice(start.length);
        for (const name of names) {
          if (!matches([...below, name])) continue;
          more = files.length === most;
          if (more) break;
          files.push([...segments, name].join('/'));
        }
        if (more) break;
      }
      return { pattern, path: call.path.relative, files, truncated: more || losses.tooMany, ...lossesOf(losses) };
    },
  });
}

/** What a result tells about folders that the search could not look into. */
export function lossesOf(losses: WalkLosses): { readonly [member: string]: JsonValue } {
  return losses.unreadableFolders === 0 ? {} : { unreadable_folders: losses.unreadableFolders };
}
