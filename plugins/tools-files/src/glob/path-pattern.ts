import { segmentMatcher, type SegmentMatcher } from './segment-pattern.js';
import { spend, type Work } from './work.js';

/** Matches the segments of a path. */
export type PathMatcher = (segments: readonly string[], work: Work) => boolean;

type Part = SegmentMatcher | 'any segments';

/**
 * Compiles a pattern of segments. `**` as a whole segment stands for any number of segments, at the end for at least
 * one. Matching takes at most the product of the two lengths.
 *
 * @throws SyntaxError
 */
export function pathMatcher(pattern: string): PathMatcher {
  const parts: Part[] = [];
  for (const segment of pattern.split('/')) {
    if (!/^\*{2,}$/.test(segment)) parts.push(segmentMatcher(segment));
    else if (parts.at(-1) !== 'any segments') parts.push('any segments');
  }
  if (parts.at(-1) === 'any segments') parts.push(() => true);
  return (segments, work) => matches(parts, segments, work);
}

/** The same walk as over the characters of a segment, with `**` in the place of `*`. */
function matches(parts: readonly Part[], segments: readonly string[], work: Work): boolean {
  let part = 0;
  let at = 0;
  let open = -1;
  let resume = 0;
  while (at < segments.length) {
    spend(work);
    const current = parts[part];
    if (current === 'any segments') {
      open = part;
      resume = at;
      part += 1;
    } else if (current !== undefined && current(segments[at] ?? '', work)) {
      part += 1;
      at += 1;
    } else if (open >= 0) {
      resume += 1;
      at = resume;
      part = open + 1;
    } else return false;
  }
  return part === parts.length;
}
