import { fileFailure } from '../failure.js';
import { hasLoneSurrogate } from './encoding.js';
import { findPlaces } from './find-places.js';
import { lineEndsOf, toLineFeeds } from './line-ends.js';

/** A text that stands exactly once in a file, and what takes its place. */
export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
}

interface Place {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Makes all edits or none. Each old text is looked for in the original, so no edit sees the result of another. CR LF
 * and LF count as equal; lines that are not touched keep their ends, and new lines get those of the place they come to.
 *
 * @throws FileFailure `encoding_error`, `not_found`, `duplicate_match` or `overlapping_edits`, with the edit's index
 */
export function applyEdits(original: string, edits: readonly Edit[]): string {
  const ends = lineEndsOf(original);
  const places = edits.map((edit, index) => placeOf(ends.text, edit, index));
  places.sort((one, other) => one.start - other.start);
  const pieces: string[] = [];
  let done = 0;
  let previous: Place | undefined;
  for (const place of places) {
    if (previous !== undefined && place.start < previous.end) {
      throw problem('overlapping_edits', place.index, `overlaps edit ${previous.index}`);
    }
    previous = place;
    const replacement = toLineFeeds(edits[place.index]?.new_text ?? '');
    pieces.push(original.slice(done, ends.originalPlace(place.start)));
    pieces.push(replacement.replaceAll('\n', ends.lineEndFor(place.start, place.end)));
    done = ends.originalPlace(place.end);
  }
  pieces.push(original.slice(done));
  return pieces.join('');
}

function placeOf(text: string, edit: Edit, index: number): Place {
  if (hasLoneSurrogate(edit.old_text) || hasLoneSurrogate(edit.new_text)) {
    throw problem('encoding_error', index, 'holds half of a surrogate pair');
  }
  const wanted = toLineFeeds(edit.old_text);
  const [start, second] = findPlaces(text, wanted, 2);
  if (start === undefined) throw problem('not_found', index, 'has an old_text that is not in the file');
  if (second !== undefined) {
    throw problem('duplicate_match', index, 'has an old_text that is in the file more than once; add text around it');
  }
  return { index, start, end: start + wanted.length };
}

function problem(
  code: 'encoding_error' | 'not_found' | 'duplicate_match' | 'overlapping_edits',
  index: number,
  says: string,
): Error {
  return fileFailure(code, `Edit ${index} ${says}. Nothing was changed.`, { data: { edit: index } });
}
