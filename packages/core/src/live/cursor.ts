import { PerdureError } from '@perdure/plugin-api';

/**
 * Where a reader of a session is: the last revision that it has whole, and while an answer grows behind that revision
 * the place in it. Which answer is meant follows from the revision: there is one at a time.
 */
export interface Cursor {
  readonly revision: number;
  readonly place?: AnswerPlace;
}

/** A part of an answer and how much of it a reader has; see `partOnWire`. */
export interface AnswerPlace {
  readonly part: number;
  readonly offset: number;
}

export const beginning: Cursor = { revision: -1 };

const CURSOR = /^(-1|\d{1,15})(?:~(\d{1,9})~(\d{1,12}))?$/;

export function formatCursor(revision: number, place?: AnswerPlace): string {
  return place === undefined ? String(revision) : `${revision}~${place.part}~${place.offset}`;
}

/** Reads a cursor that came from outside. Throws PERDURE_CURSOR_INVALID. */
export function parseCursor(text: string, session: string, head: number): Cursor {
  const match = CURSOR.exec(text);
  const revision = Number(match?.[1]);
  if (match === null || revision > head) throw new PerdureError('PERDURE_CURSOR_INVALID', { session });
  return match[2] === undefined
    ? { revision }
    : { revision, place: { part: Number(match[2]), offset: Number(match[3]) } };
}
