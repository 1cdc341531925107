import type { ProjectionChange, RowOptions } from '../ports/projection-store.js';
import { checkList, checkName, checkText, checkWhole, invalidInput } from './values.js';

/** Throws PERDURE_INPUT_INVALID with the field, unless the change is one that the port allows. */
export function checkChange(projection: string, change: ProjectionChange): void {
  checkName('projection', projection);
  checkText('checkpoint', change.checkpoint);
  if (change.expected !== undefined) checkText('expected', change.expected);
  checkList('put', change.put);
  for (const [index, { key, value }] of change.put.entries()) {
    checkKey(`put[${index}].key`, key);
    checkText(`put[${index}].value`, value);
  }
  checkList('remove', change.remove);
  for (const [index, key] of change.remove.entries()) checkKey(`remove[${index}]`, key);
}

export function checkRows(projection: string, { prefix, from, limit }: RowOptions): void {
  checkName('projection', projection);
  if (prefix !== undefined) checkKey('prefix', prefix);
  if (from !== undefined) checkKey('from', from);
  if (limit !== undefined) checkWhole('limit', limit, 1);
}

function checkKey(field: string, key: unknown): void {
  if (typeof key !== 'string') throw invalidInput(field, 'must be a text');
}
