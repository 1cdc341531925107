/** What a host, or a scheduler of a cluster, tells a session. It becomes a fact, and hooks hear of it. */
export type ClusterEvent = BudgetThresholdEvent | PassivationEvent | PeerInvocationEvent;

/** A budget that the host keeps itself came near its limit, or over it. */
export interface BudgetThresholdEvent {
  readonly type: 'budget_threshold_hit';
  /** `llm_tokens`, `tool_calls`, `wall_time`, `usd_cost`, or the host's own word. */
  readonly resource: string;
  readonly kind: 'soft' | 'hard';
  readonly consumed: number;
  readonly limit: number;
  readonly message?: string;
}

/**
 * The session is to leave the node that has it: its owner goes to the next step boundary, or as far as it comes until
 * the deadline, and lets it go there. Nothing is lost; whoever resumes the session goes on.
 */
export interface PassivationEvent {
  readonly type: 'passivation_requested';
  /** `idle_reaper`, `node_drain`, `migration`, `manual`, or the host's own word. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly deadline_ms?: number;
  /** The same, from now on; one of the two. */
  readonly graceMs?: number;
}

/** Another session called this one. For audit and traces. */
export interface PeerInvocationEvent {
  readonly type: 'peer_invocation';
  readonly from_session_id: string;
  readonly from_tenant_id?: string;
  readonly correlation_id?: string;
}
