import type { JsonValue } from '@perdure/events';
import type { Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { fileFailure, quoted } from '../failure.js';
import { globFilter } from '../glob/search-pattern.js';
import { hasLoneSurrogate } from '../text/encoding.js';
import { grepFolder, type GrepResult } from '../search/grep-folder.js';
import { ripgrepProgram, runRipgrep } from '../search/ripgrep.js';
import { fileTool, type FileToolSetting } from './file-tool.js';
import { lossesOf } from './find-tool.js';
import { resultLimit } from './input.js';

const LONGEST_QUERY = 1000;

const input = z.strictObject({
  query: z.string().describe('What to look for within one line: plain text, or a regular expression (see literal).'),
  path: z.string().default('.').describe('Folder or file to search, relative to the workspace.'),
  glob: z
    .array(z.string())
    .max(20)
    .default([])
    .describe('Search only files that match, such as *.ts or src/**; !*.test.ts leaves files out.'),
  case_sensitive: z.boolean().default(false).describe('Whether letter case counts.'),
  literal: z.boolean().default(true).describe('False: query is a regular expression in the syntax of Rust.'),
  context_lines: z.int().min(0).max(10).default(0).describe('Lines to show before and after each match.'),
  max_results: resultLimit(2000, 200).describe('The most matching lines to return.'),
});

export function grepTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'grep',
    description:
      'Searches the text of files and returns matching lines in the order of their paths, hidden files included. ' +
      'What .gitignore files leave out, .git, binary files, files over 64 MiB and symbolic links are skipped.',
    inputSchema: input,
    effect: 'read',
    missing: 'path_not_found',
    pathOf: (given) => given.path,
    execute: async (call) => {
      const asked = call.input;
      checkQuery(asked.query);
      const filter = globFilter(asked.glob);
      const query = {
        program: await ripgrepProgram(),
        arguments: queryArguments(asked),
        contextLines: asked.context_lines,
        signal: call.signal,
      };
      if (!asked.literal) await checkExpression(query.program, query.arguments, call.signal);
      const result = await grepFolder({ root: call.root, path: call.path, filter }, query, asked.max_results);
      return outputOf(asked.query, call.path.relative, result);
    },
  });
}

function outputOf(query: string, path: string, { matches, truncated, losses }: GrepResult): JsonValue {
  return {
    query,
    path,
    matches: [...matches],
    truncated,
    files_searched: losses.searchedFiles,
    ...(losses.binaryFiles === 0 ? {} : { binary_files: losses.binaryFiles }),
    ...(losses.largeFiles === 0 ? {} : { large_files: losses.largeFiles }),
    ...(losses.unreadableFiles === 0 ? {} : { unreadable_files: losses.unreadableFiles }),
    ...lossesOf(losses),
  };
}

function queryArguments(asked: z.output<typeof input>): readonly string[] {
  return [
    asked.case_sensitive ? '--case-sensitive' : '--ignore-case',
    // With CR LF files, $ is to match before the CR.
    asked.literal ? '--fixed-strings' : '--crlf',
    `--regexp=${asked.query}`,
  ];
}

function checkQuery(query: string): void {
  const refuse = (reason: string): Error =>
    fileFailure('invalid_pattern', `The query ${quoted(query)} is not valid: ${reason}.`);
  if (query === '') throw refuse('it is empty');
  if (query.length > LONGEST_QUERY) throw refuse(`it is longer than ${LONGEST_QUERY} characters`);
  if (/[\n\r\0]/.test(query)) throw refuse('it contains a line break or a NUL character');
  if (hasLoneSurrogate(query)) throw refuse('it is not valid Unicode');
}

/** Lets ripgrep read the expression without any file, so that its complaint is told apart from failures of a search. */
async function checkExpression(program: string, query: readonly string[], signal: AbortSignal): Promise<void> {
  const end = await runRipgrep(program, {
    arguments: [...query, '--', '-'],
    descriptors: [],
    signal,
    onLine: () => 'go on',
  });
  if (end.status !== 2) return;
  throw fileFailure('invalid_pattern', `The query is not a valid regular expression: ${end.message.trim()}`);
}
