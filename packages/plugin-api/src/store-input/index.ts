/** What the store ports allow as input, for those who write a store: every store refuses the same, with the field. */
export { checkRange } from './artifact-store.js';
export {
  checkAppend,
  checkFact,
  checkRead,
  checkSubscribe,
  checkTarget,
  checkTruncate,
  tooLarge,
} from './event-store.js';
export { checkChange, checkRows } from './projection-store.js';
export { invalidSnapshot, snapshotText } from './snapshot-store.js';
export { checkList, checkName, checkText, checkWhole, invalidInput, isStorableText, LONGEST_NAME } from './values.js';
