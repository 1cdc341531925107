import { fileFailure } from '../failure.js';
import type { OpenedFile } from '../root/directory.js';
import { previewLine } from './line-preview.js';
import { placeArguments, readPlace, type LinePlace } from './line-place.js';
import { runRipgrep } from './ripgrep.js';
import { textSource } from './text-source.js';

/** A file that was opened for a search. What is shown of it is read from the handle, never by a path. */
export interface SearchedFile extends OpenedFile {
  /** Below the workspace. */
  readonly path: string;
  /** Where ripgrep finds the file, when it cannot be given the descriptor. */
  readonly location: string | undefined;
}

export interface GrepQuery {
  readonly program: string;
  /** The arguments that make up the query. */
  readonly arguments: readonly string[];
  readonly contextLines: number;
  readonly signal: AbortSignal;
}

export type GrepMatch = {
  readonly path: string;
  readonly line_number: number;
  readonly column?: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
};

const FIRST_DESCRIPTOR = 3;

interface SearchLosses {
  /** Files that match but hold binary data. */
  readonly binaryFiles: number;
  readonly unreadableFiles: number;
}

export interface GrepBatch extends SearchLosses {
  readonly matches: readonly GrepMatch[];
}

/** Searches open files in their order, and returns up to `most` matching lines. */
export async function grepFiles(files: readonly SearchedFile[], query: GrepQuery, most: number): Promise<GrepBatch> {
  const { placesOf, ...losses } = await findLines(files, query, most);
  const matches: GrepMatch[] = [];
  for (const [index, file] of files.entries()) {
    const places = placesOf.get(index);
    if (places === undefined) continue;
    matches.push(...(await showMatches(file, places, query.contextLines, most - matches.length)));
  }
  return { matches, ...losses };
}

interface FoundLines extends SearchLosses {
  readonly placesOf: ReadonlyMap<number, readonly LinePlace[]>;
}

/** How many files ripgrep could not read; 0 when it complains of anything else. */
function unreadable(message: string): number {
  const lines = message.trim().split('\n');
  return lines.every((line) => /^rg: .*\(os error \d+\)$/.test(line)) ? lines.length : 0;
}

async function findLines(files: readonly SearchedFile[], query: GrepQuery, most: number): Promise<FoundLines> {
  const names = files.map((file, index) => file.location ?? `/proc/self/fd/${FIRST_DESCRIPTOR + index}`);
  const indexOf = new Map(names.map((name, index) => [name, index]));
  const places = new Map<number, LinePlace[]>();
  let binaryFiles = 0;
  let matched = 0;
  let following = 0;
  const end = await runRipgrep(query.program, {
    arguments: [
      ...placeArguments,
      `--context=${query.contextLines}`,
      `--max-count=${most}`,
      ...query.arguments,
      '--',
      ...names,
    ],
    descriptors: files.flatMap((file) => (file.location === undefined ? [file.handle.fd] : [])),
    signal: query.signal,
    onLine: (line) => {
      const place = readPlace(line);
      if (place === undefined) return 'go on';
      if (place === 'binary') {
        binaryFiles += 1;
        return 'go on';
      }
      const index = indexOf.get(place.file);
      if (index === undefined) return 'go on';
      const known = places.get(index);
      if (known === undefined) places.set(index, [place]);
      else known.push(place);
      if (matched >= most) following += 1;
      if (place.matched) matched += 1;
      // The lines after the last match are still to come.
      return matched >= most && following >= query.contextLines ? 'stop' : 'go on';
    },
  });
  const unreadableFiles = end.status === 2 ? unreadable(end.message) : 0;
  if (end.status === 0 || end.status === 1 || unreadableFiles > 0) {
    return { placesOf: places, binaryFiles, unreadableFiles };
  }
  throw fileFailure('search_failed', `ripgrep ended with status ${end.status ?? 'none'}.`, {
    cause: new Error(end.message),
  });
}

async function showMatches(
  file: SearchedFile,
  places: readonly LinePlace[],
  contextLines: number,
  most: number,
): Promise<readonly GrepMatch[]> {
  const source = await textSource(file, file.path);
  const texts = new Map<number, string>();
  const textAt = async (place: LinePlace): Promise<string> => {
    const known = texts.get(place.lineNumber);
    if (known !== undefined) return known;
    const { text } = await previewLine(source, place.offset, 0);
    texts.set(place.lineNumber, text);
    return text;
  };
  const matches: GrepMatch[] = [];
  for (const [index, place] of places.entries()) {
    if (!place.matched) continue;
    if (matches.length === most) break;
    const preview = await previewLine(source, place.offset, place.matchAt);
    const near = places.slice(Math.max(0, index - contextLines), index + contextLines + 1);
    const before: string[] = [];
    const after: string[] = [];
    for (const other of near) {
      const distance = other.lineNumber - place.lineNumber;
      if (distance < 0 && distance >= -contextLines) before.push(await textAt(other));
      if (distance > 0 && distance <= contextLines) after.push(await textAt(other));
    }
    matches.push({
      path: file.path,
      line_number: place.lineNumber,
      ...(preview.column === undefined ? {} : { column: preview.column }),
      text: preview.text,
      ...(contextLines === 0 ? {} : { before, after }),
    });
  }
  return matches;
}
