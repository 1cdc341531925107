import { fileFailure, quoted } from '../failure.js';
import { expandBraces } from './braces.js';
import { pathMatcher } from './path-pattern.js';
import { isTooMuchWork, newWork, type Work } from './work.js';

/** Decides about a path by its segments. Throws FileFailure `invalid_pattern` when that takes too many steps. */
export type PathFilter = (segments: readonly string[]) => boolean;

const LONGEST_PATTERN = 1000;

/**
 * Compiles the pattern of a search, relative to the folder that is searched.
 *
 * @throws FileFailure `invalid_pattern`
 */
export function searchPattern(pattern: string): PathFilter {
  const matchers = compile(pattern);
  return bounded(pattern, (segments, work) => matchers.some((matches) => matches(segments, work)));
}

/**
 * Compiles the globs of a text search, as ripgrep and git read them: a glob without `/` is for names at any depth, `!`
 * leaves out files and whole folders, and the last glob that matches decides.
 *
 * @throws FileFailure `invalid_pattern`
 */
export function globFilter(globs: readonly string[]): PathFilter {
  const rules = globs.map((glob) => {
    const negated = glob.startsWith('!');
    const pattern = (negated ? glob.slice(1) : glob).replace(/^\/+(?=.)/, './');
    return { negated, matchers: compile(pattern === '' || pattern.includes('/') ? pattern : `**/${pattern}`) };
  });
  const usual = rules.every((rule) => rule.negated);
  return bounded(globs.join(' '), (segments, work) => {
    const last = rules.findLast(({ negated, matchers }) =>
      matchers.some((matches) =>
        negated ? segments.some((_, index) => matches(segments.slice(0, index + 1), work)) : matches(segments, work),
      ),
    );
    return last === undefined ? usual : !last.negated;
  });
}

function compile(pattern: string): readonly ReturnType<typeof pathMatcher>[] {
  if (pattern === '') throw refusal(pattern, 'it is empty');
  if (pattern.length > LONGEST_PATTERN) throw refusal(pattern, `it is longer than ${LONGEST_PATTERN} characters`);
  if (pattern.includes('\0')) throw refusal(pattern, 'it contains a NUL character');
  if (pattern.includes('\\')) throw refusal(pattern, 'it contains a backslash; write / for paths and [*] for a star');
  if (pattern.startsWith('/')) throw refusal(pattern, 'it is absolute; give the folder in path');
  if (pattern.startsWith('!')) throw refusal(pattern, 'it begins with !, which is not supported here');
  try {
    return expandBraces(pattern).map((alternative) => {
      const segments = alternative.split('/').filter((segment) => segment !== '' && segment !== '.');
      if (segments.includes('..')) throw new SyntaxError('it contains ..');
      return pathMatcher(segments.join('/'));
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(pattern, error.message);
    throw error;
  }
}

function bounded(pattern: string, decide: (segments: readonly string[], work: Work) => boolean): PathFilter {
  return (segments) => {
    try {
      return decide(segments, newWork());
    } catch (error) {
      if (isTooMuchWork(error)) throw refusal(pattern, error.message);
      throw error;
    }
  };
}

function refusal(pattern: string, reason: string): Error {
  return fileFailure('invalid_pattern', `The pattern ${quoted(pattern)} is not valid: ${reason}.`);
}
