import { PerdureError } from '../errors/perdure-error.js';
import type { SessionSnapshotV1 } from '../ports/snapshot-store.js';

/** The JSON text of a snapshot. Throws PERDURE_SNAPSHOT_INVALID with the field when the value is none. */
export function snapshotText(snapshot: SessionSnapshotV1): string {
  if (typeof snapshot !== 'object' || snapshot === null || Array.isArray(snapshot)) {
    throw invalidSnapshot('snapshot', 'must be an object');
  }
  if (snapshot.schema_version !== 1) throw invalidSnapshot('schema_version', 'must be 1');
  if (typeof snapshot.session !== 'object' || snapshot.session === null) {
    throw invalidSnapshot('session', 'must be an object');
  }
  try {
    return JSON.stringify(snapshot);
  } catch (cause) {
    throw invalidSnapshot('snapshot', 'must be a JSON value', cause);
  }
}

function invalidSnapshot(field: string, reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_SNAPSHOT_INVALID', { field, reason }, { cause });
}
