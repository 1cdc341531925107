import type { ProjectionChange, ProjectionRow, ProjectionStore } from '@perdure/plugin-api';
import type { ProjectionStoreRequirement } from '../requirements.js';
import type { Suite } from '../suite.js';

export type ProjectionStoreSuite = Suite<ProjectionStore, ProjectionStoreRequirement>;

export const PROJECTION = 'session-list';

/** A change that does nothing but what a test says. */
export function change(members: Partial<ProjectionChange>): ProjectionChange {
  return { expected: undefined, checkpoint: '1', put: [], remove: [], ...members };
}

/** Rows whose value is made from their key. */
export function rowsOf(...keys: readonly string[]): ProjectionRow[] {
  return keys.map((key) => ({ key, value: `value of ${key}` }));
}
