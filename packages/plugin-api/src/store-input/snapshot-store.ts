import { checkSnapshot, type SessionSnapshotV1 } from '@perdure/events';
import { PerdureError } from '../errors/perdure-error.js';

/** The JSON text of a snapshot. Throws PERDURE_SNAPSHOT_INVALID with the field when the value is none. */
export function snapshotText(snapshot: SessionSnapshotV1): string {
  const checked = checkSnapshot(snapshot);
  if (!checked.ok) throw invalidSnapshot(checked.fault);
  try {
    return JSON.stringify(snapshot);
  } catch (cause) {
    throw invalidSnapshot({ field: 'snapshot', reason: 'it is no JSON value' }, cause);
  }
}

/** The error for what is wrong with a snapshot. */
export function invalidSnapshot({ field, reason }: { field: string; reason: string }, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_SNAPSHOT_INVALID', { field, reason }, { cause });
}
