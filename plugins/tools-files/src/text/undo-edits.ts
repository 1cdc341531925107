import { isFileFailure } from '../failure.js';
import { applyEdits, type Edit } from './apply-edits.js';
import { findPlaces } from './find-places.js';
import { toLineFeeds } from './line-ends.js';

/**
 * The text that the edits were made in, when that can be told: each new text stands once in `edited`, and making the
 * edits in the result gives `edited` again.
 */
export function undoEdits(edited: string, edits: readonly Edit[]): string | undefined {
  if (edits.some((edit) => edit.new_text === '')) return undefined;
  try {
    const before = applyEdits(
      edited,
      edits.map(({ old_text, new_text }) => ({ old_text: new_text, new_text: old_text })),
    );
    return applyEdits(before, edits) === edited ? before : undefined;
  } catch (error) {
    if (isFileFailure(error)) return undefined;
    throw error;
  }
}

/** Whether a text holds all that the edits would have put into it. */
export function couldBeEdited(text: string, edits: readonly Edit[]): boolean {
  const plain = toLineFeeds(text);
  return edits.every((edit) => {
    const added = toLineFeeds(edit.new_text);
    return added === '' || findPlaces(plain, added, 1).length > 0;
  });
}
