import { z } from 'zod';
import { invalidInput } from '../session/session-input.js';

const listCursor = z.strictObject({
  /** The position of the newest fact that the first page knew of: the listing is in the order of that moment. */
  since: z.string(),
  /** The last session that was given: when it had changed by then, in epoch milliseconds, and its key. */
  changed: z.int(),
  key: z.string(),
});

/** Where a listing goes on. */
export type ListCursor = z.output<typeof listCursor>;

export function formatListCursor(cursor: ListCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Throws PERDURE_INPUT_INVALID. */
export function checkCursor(text: unknown): ListCursor {
  try {
    if (typeof text === 'string') return listCursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
  }
  throw invalidInput('cursor', 'it is no cursor of a list');
}
