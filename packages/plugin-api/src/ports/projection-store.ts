/**
 * Rows of projections: views of the facts that can be thrown away and made again. A projection's rows and its
 * checkpoint change together, by compare-and-set, so that two writers cannot mix their work.
 */
export interface ProjectionStore {
  readonly name: string;

  /** The checkpoint of the last commit; `undefined` before the first. */
  checkpoint(projection: string): Promise<string | undefined>;

  /** Rows in the order of their keys (by code unit), from `from` on, with keys that begin with `prefix`. */
  rows(projection: string, options?: RowOptions): Promise<readonly ProjectionRow[]>;

  /** Stores the rows and the checkpoint, or nothing when the checkpoint is not `expected` any more. */
  commit(projection: string, change: ProjectionChange): Promise<ProjectionCommit>;

  /** Forgets the projection: no rows, no checkpoint. */
  clear(projection: string): Promise<void>;

  close(): Promise<void>;
}

export interface ProjectionRow {
  readonly key: string;
  readonly value: string;
}

export interface RowOptions {
  readonly prefix?: string;
  readonly from?: string;
  readonly limit?: number;
}

export interface ProjectionChange {
  readonly expected: string | undefined;
  readonly checkpoint: string;
  readonly put: readonly ProjectionRow[];
  readonly remove: readonly string[];
}

export type ProjectionCommit =
  { readonly status: 'stored' } | { readonly status: 'conflict'; readonly actual: string | undefined };
