import type { ByteRange } from '../ports/artifact-store.js';
import { checkWhole, invalidInput } from './values.js';

/** Throws PERDURE_INPUT_INVALID with the field, unless the range is one that the port allows. */
export function checkRange({ from, to }: ByteRange): void {
  if (from !== undefined) checkWhole('range.from', from, 0);
  if (to === undefined) return;
  checkWhole('range.to', to, 0);
  if (to < (from ?? 0)) throw invalidInput('range.to', 'must not be before range.from');
}
