/**
 * What a host says of where sessions run. A session that has work and no owner that lives is offered to each node that
 * has its agent; whoever appends its ownership first has it, so that no answer here can make two owners.
 */
export interface Placement {
  /**
   * How many sessions with open turns this node may have when it is to take another one; no bound when absent. A prompt
   * that is given to this node is run here nevertheless.
   */
  readonly capacity?: number;
  /**
   * Milliseconds for which a session is left to its preferred node while that lives, from the first offer on; two times
   * the node's `leaseTtlMs` when absent.
   */
  readonly preferenceMs?: number;
  /**
   * Asked before a session is taken; all are taken when absent. One that fails, or has not answered in the runtime's
   * `pluginTimeoutMs`, leaves the session, and is told.
   */
  readonly onRunnable?: (session: RunnableSession) => PlacementAnswer | Promise<PlacementAnswer>;
}

/** A session with work that nobody does. */
export interface RunnableSession {
  readonly sessionId: string;
  readonly tenantId: string | null;
  readonly agentId: string;
  /** The node that had it last and died or handed it over. */
  readonly lastNode: string | null;
  /** How often it was offered to this node and not taken since it changed. */
  readonly offers: number;
}

/**
 * `leave` is not for ever: the session is offered again after a while, at most 30 seconds, and when it changes.
 * `preferredNode` leaves it to that node while it lives; to this node itself it means `take`.
 */
export type PlacementAnswer = 'take' | 'leave' | { readonly preferredNode: string };

/** A node as its lease shows it. */
export interface NodeInfo {
  readonly node: string;
  /** The process that runs or ran under the name. */
  readonly incarnation: string;
  readonly isAlive: boolean;
  /** Milliseconds without a renewal after which it counts as dead. */
  readonly ttlMs: number;
  /** Sessions that it owns. Those of a dead node are taken by others. */
  readonly sessions: number;
}

/** What became of the sessions of a node that was drained. */
export interface DrainReport {
  /** Sessions that were in the middle of a turn and left at the end of a step. */
  readonly handedOver: number;
  /** Sessions whose step was still under way at the deadline; their calls are what their contracts say. */
  readonly cut: number;
  /** Sessions that were here and had nothing under way. */
  readonly idle: number;
}

export interface DrainOptions {
  /** Milliseconds that steps under way may take; 30,000 when absent. */
  readonly graceMs?: number;
  /** Stands in the sessions' streams; "the node is drained" when absent. */
  readonly reason?: string;
}
