import { pathMatcher, type PathMatcher } from './path-pattern.js';
import { isTooMuchWork, newWork } from './work.js';

interface Rule {
  /** Whether a match takes back what an earlier rule ignored. */
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  readonly matches: PathMatcher;
}

/** The rules of one .gitignore file. */
export interface IgnoreFile {
  /** How many segments the folder of the file has. */
  readonly depth: number;
  readonly rules: readonly Rule[];
}

const MOST_RULES = 10_000;

/** Reads a .gitignore file. Lines that git could not use either are left out, as git does. */
export function parseIgnoreFile(text: string, depth: number): IgnoreFile {
  const lines = text.replace(/^\ufeff/, '').split('\n', MOST_RULES);
  return { depth, rules: lines.flatMap((line) => parseRule(line.replace(/\r$/, ''))) };
}

/**
 * Whether the rules ignore a path. The last rule that matches decides, and deeper files count as later. A path that
 * takes too many steps to decide is not ignored.
 */
export function isIgnored(files: readonly IgnoreFile[], segments: readonly string[], isDirectory: boolean): boolean {
  const work = newWork();
  try {
    for (const { depth, rules } of files.toReversed()) {
      const below = segments.slice(depth);
      const last = rules.findLast((rule) => (isDirectory || !rule.directoriesOnly) && rule.matches(below, work));
      if (last !== undefined) return !last.negated;
    }
    return false;
  } catch (error) {
    if (isTooMuchWork(error)) return false;
    throw error;
  }
}

function parseRule(line: string): readonly Rule[] {
  let pattern = withoutTrailingSpaces(line);
  if (pattern === '' || pattern.startsWith('#')) return [];
  const negated = pattern.startsWith('!');
  if (negated) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes('/');
  if (pattern.startsWith('/')) pattern = pattern.slice(1);
  if (pattern === '') return [];
  try {
    return [{ negated, directoriesOnly, matches: pathMatcher(anchored ? pattern : `**/${pattern}`) }];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Spaces at the end do not count unless a backslash keeps them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end -= 1;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
