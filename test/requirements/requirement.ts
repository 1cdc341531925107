/** The stages of the product, in order. Each is one issue with that word in its title. */
export const milestones = ['kernel', 'control', 'context', 'nodes', 'kafka', 'surfaces'] as const;
export type Milestone = (typeof milestones)[number];

/** The last milestone that is reached: what is due at it or before must be proved by tests. */
export const reached: Milestone = 'nodes';

/**
 * A promise of the system: `P` of its design, `A` of the extension points that it offers to hosts, `R` of the runtime
 * of agents and sessions. A test cites it by its id in the title, `[P3]`, or `[P4/nodes]` when the id is due at several
 * milestones; an entry lists the files with such tests. What is not due yet says in `deferred` what is missing, unless
 * tests prove it already.
 */
export interface Requirement {
  readonly id: string;
  readonly promise: string;
  readonly due: Milestone;
  /** Paths from the root of the repository. */
  readonly tests: readonly string[];
  readonly deferred?: string;
}
