import type { SessionKey } from '@perdure/events';
import type { JsonText } from './json-text.js';

/** A fact as projections get it. Its payload is parsed only when somebody looks at it. */
export interface ProjectedFact {
  readonly key: SessionKey;
  readonly type: string;
  readonly payload: unknown;
  /** The same payload, for those who want little of it. */
  readonly json: JsonText;
  /** UTF-8 bytes of the payload. */
  readonly bytes: number;
  readonly revision: number;
  readonly position: string;
  /** Epoch milliseconds. */
  readonly time: number;
}

/**
 * A view over the facts of all sessions: rows by key, each a fold of the facts that touch it. Pure; rows can be thrown
 * away and made again.
 */
export interface Projection<Row> {
  readonly name: string;
  /** Changes whenever the same facts would give other rows: the old ones are then made anew. */
  readonly version: number;
  /** The types of facts that it looks at. */
  readonly types: readonly string[];
  /** The rows that a fact touches. */
  keys(fact: ProjectedFact): readonly string[];
  /** The row after a fact; a row that comes to `undefined` is removed. */
  evolve(row: Row | undefined, fact: ProjectedFact, key: string): Row | undefined;
}
