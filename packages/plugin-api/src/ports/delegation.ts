import type { ApprovalMode, ChildStatus, Failure, JsonValue, Usage } from '@perdure/events';

/**
 * An agent that work can be handed to: the agent of the session that hands it on, narrowed. It never gets more than
 * that one has, whatever stands here.
 */
export interface AgentDefinition {
  /** Letters, digits, "-" and "_", beginning with a letter. */
  readonly name: string;
  /** For what work it is; shown to models. */
  readonly description: string;
  /** What the model is told in the place of the agent's own instruction; that one when absent. */
  readonly instruction?: string | readonly string[];
  /** What a session is told before that when it is handed work; one that a person opened is not. */
  readonly handed?: string;
  /** Whether it may use only tools that read; `false` when absent. */
  readonly readOnly?: boolean;
  /** Its tools: exact names, or beginnings that end in `*`; all that the handing session has when absent. */
  readonly tools?: readonly string[];
  /** The name of a model; that of the handing session when absent. */
  readonly model?: string;
  readonly limits?: { readonly maxSteps?: number };
  /** Rules in the form of the permission policy. They can only take away. */
  readonly permission?: JsonValue;
  /** Its approval mode where that is stricter than the one of the handing session. */
  readonly approvals?: ApprovalMode;
}

/** Agents that work can be handed to. */
export interface AgentDefinitionSource {
  readonly name: string;
  readonly definitions: readonly AgentDefinition[];
}

/** Work for a session of its own. */
export interface ChildTask {
  /** The name of a definition. */
  readonly agent: string;
  /** A few words for people. */
  readonly description: string;
  readonly prompt: string;
  /** The call does not wait for it; its end comes back as a message at a step boundary. */
  readonly background?: boolean;
}

/** How many sessions there may be. */
export interface ChildLimits {
  /** How far below the root they may be. */
  readonly maxDepth: number;
  /** How many of one session may be under way together. */
  readonly maxFanOut: number;
  /** How many there may be below the root in all, over its life. It is set by the root and handed down in shares. */
  readonly maxTotal: number;
}

/** How a child session stands. */
export interface ChildReport {
  /** The id of the session. */
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly background: boolean;
  /** `waiting` when people are asked something. */
  readonly status: 'running' | 'waiting' | ChildStatus;
  /** Its last answer, cut to a bounded length in the middle; empty while there is none. */
  readonly text: string;
  /** How long the whole answer is. */
  readonly characters: number;
  readonly failure?: Failure;
  readonly usage: Usage;
}

/**
 * The way for a tool to hand work to sessions of their own, in the place of a registry of them. A child is known by the
 * call and its place among the children of the call: when the call is run again after a crash, the children that there
 * are go on, and none that has ended is begun again. What the call waits for ends with it, and with its turn.
 */
export interface ScopedChildren {
  /** Whom work can be handed to. */
  readonly agents: readonly AgentDefinition[];
  /**
   * Starts children, or finds those that an earlier run of the call started. Resolves with their ids, in order, when
   * each has its prompt. Throws PERDURE_CHILD_AGENT_UNKNOWN, PERDURE_CHILD_LIMIT, PERDURE_TOOL_CANCELLED when the turn
   * was stopped, and PERDURE_TOOL_CALL_OVER when the call has ended; none is started then.
   */
  start(tasks: readonly ChildTask[], limits: ChildLimits): Promise<readonly string[]>;
  /**
   * Resolves with the end of a child of this session. Rejects with PERDURE_TOOL_CALL_OVER when the call ends here, and
   * PERDURE_CHILD_UNKNOWN for an id that is no child's.
   */
  wait(id: string): Promise<ChildReport>;
  /** How a child of this session stands, whether or not it has ended. */
  look(id: string): Promise<ChildReport>;
  /** The ids of those that have not ended, or whose end is still to be told. */
  list(): readonly string[];
  /** Asks for the end of a child and of all below it. Resolves when the requests are durable. */
  stop(id: string, reason?: string): Promise<void>;
}
