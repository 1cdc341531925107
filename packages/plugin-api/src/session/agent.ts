import type { Labels } from '@perdure/events';
import type { BudgetGuard } from '../ports/budget.js';
import type { LanguageModel } from '../ports/model.js';
import type { Tools } from '../ports/tool.js';
import type { PluginLike } from '../plugin.js';
import type { FileOptions } from './attachment.js';
import type { SessionRetentionLimits } from './run.js';
import type { Session } from './session.js';

export interface AgentOptions {
  readonly id: string;
  /** The model of sessions that have none of their own: an instance, or a name in `models` or of a plugin. */
  readonly model?: LanguageModel | string;
  readonly models?: Readonly<Record<string, LanguageModel>>;
  readonly instruction?: string | readonly string[];
  readonly workspace?: string;
  readonly tools?: Tools;
  /** Plugins of this agent alone. */
  readonly plugins?: readonly PluginLike[];
  /** The isolating tenant of all its sessions. */
  readonly tenant?: string;
  /** Whether answers are asked for as streams; `true` when absent. */
  readonly streaming?: boolean;
  /** Whether the agent may use only tools that read, also as parts of other calls; `false` when absent. */
  readonly readOnly?: boolean;
  /**
   * Whether models are shown what comes from outside between marks that it cannot forge, with a word on what they mean;
   * `plain` when absent.
   */
  readonly externalContent?: 'marked' | 'plain';
  readonly limits?: AgentLimits;
  readonly files?: FileOptions;
  /** How long requests may get. */
  readonly context?: ContextOptions;
  /** How many calls of the agent run at the same time in this process, by the lane of their tools. */
  readonly lanes?: Readonly<Record<string, LaneOptions>>;
  /** Asked before every call of the agent's sessions, unless a session has one of its own; plugins may bring more. */
  readonly budgetGuard?: BudgetGuard;
  /** How much of their runs the agent's sessions offer; all of them when absent. */
  readonly retentionLimits?: SessionRetentionLimits;
}

/** When the older part of a conversation is summed up, so that requests stay inside the model's window. */
export interface ContextOptions {
  /**
   * The window in tokens, of every model or by the models' names. In its place when absent: the `contextWindow` of the
   * model, else 200,000.
   */
  readonly window?: number | Readonly<Record<string, number>>;
  /** The share of the window, above 0 up to 1, from which on a session is compacted before a step; 0.8 when absent. */
  readonly compactAt?: number;
}

export interface LaneOptions {
  readonly concurrency: number;
  /** Milliseconds that a call waits for its turn; it fails with PERDURE_TOOL_LANE_TIMEOUT then and is not run. */
  readonly timeoutMs?: number;
}

export interface AgentLimits {
  /** Model calls of one turn; 200 when absent. A turn that needs more fails. */
  readonly maxSteps?: number;
  /** Tries of one model call; 4 when absent. */
  readonly maxModelAttempts?: number;
  /** Milliseconds that a model may be silent; 120,000 when absent. */
  readonly modelSilenceMs?: number;
  /** Characters of a tool's output that a model is shown; 65,536 when absent. The rest goes to an artifact. */
  readonly maxOutputCharacters?: number;
  readonly maxOutputTokens?: number;
  /** Milliseconds that models and tools may work on one turn, over all its runs; there is no limit when absent. */
  readonly maxTurnMs?: number;
  /**
   * How often in a row a model may ask for the same call; 5 when absent. The next is denied, and the turn fails behind
   * the one after it.
   */
  readonly maxRepeatedCalls?: number;
  /** How many answers in a row may ask for calls with arguments that are not JSON; 3 when absent. */
  readonly maxParseFailures?: number;
  /** Parts that a tool may make of one call; 256 when absent. */
  readonly maxNestedCalls?: number;
}

export interface SessionOptions extends Labels {
  readonly sessionId?: string;
  /** The name of the session's own model. */
  readonly model?: string;
  readonly workspace?: string;
  /** Member by member in the place of the agent's, in this process. */
  readonly retentionLimits?: SessionRetentionLimits;
  /**
   * The session that this one works for, of the same tenant; it must exist. Recorded when the session is made and never
   * changed: trees of sessions share a budget.
   */
  readonly parent?: string;
  /** The name of a definition that narrows the agent for this session. Recorded when the session is made. */
  readonly agent?: string;
}

/** Makes sessions and runs them. */
export interface Agent {
  readonly id: string;
  readonly sessions: Sessions;
  /** Resolves when every resource is there; throws the first error that hinders it. */
  ready(): Promise<void>;
  /**
   * A session, at once: its facts are read and written with its first use. Throws PERDURE_ASYNC_BUILD_REQUIRED while
   * the agent is not ready.
   */
  session(workspace: string, options?: SessionOptions): Session;
  /** Adds a plugin; sessions see it at their next step boundary. */
  addPlugin(plugin: PluginLike): Promise<void>;
  /** Removes a plugin that was given to this agent; sessions lose it at their next step boundary. */
  removePlugin(name: string): Promise<boolean>;
  /**
   * Ends running turns at a point from which they can be resumed, releases the sessions and stops the agent's plugins.
   */
  dispose(): Promise<void>;
}

export interface Sessions {
  /** A new session; its first fact is durable when the promise resolves. */
  create(options?: SessionOptions): Promise<Session>;
  /** A session that exists. Labels that are given replace those that the session has. */
  get(id: string, patch?: SessionOptions): Promise<Session>;
  list(options?: ListOptions): Promise<SessionPage>;
  /**
   * Makes a session out of a snapshot (`SessionSnapshotV1`, or what came before it) of this or another system: its
   * messages, in sight of models, and where it comes from. Its id is the one that is given, else that of the snapshot,
   * else one made of both. The same snapshot again is the same session, and an import that broke off goes on with it.
   * Options come before what the snapshot says of model and labels; the workspace is never taken from it. Throws
   * PERDURE_SNAPSHOT_INVALID naming the field, and PERDURE_SESSION_EXISTS.
   */
  import(snapshot: unknown, options?: SessionOptions): Promise<Session>;
  /**
   * A new session that goes on from another one, whatever the length of that one: behind its last step boundary at or
   * before `at`. What was open there is not its: turns, prompts, calls, approvals, what was spent. The other one is not
   * touched and need not be here. Throws PERDURE_SESSION_NOT_FOUND, _EXISTS, _ERASED, PERDURE_INPUT_INVALID.
   */
  fork(id: string, options?: ForkOptions): Promise<Session>;
  /** The session with what came out of it: those that work for it, and those that were forked from it. */
  tree(id: string): Promise<SessionTree>;
  /**
   * Destroys everything that a session and those that work for it hold: facts, drafts, artifacts, snapshots. Turns are
   * stopped, on whatever node. What is left says that there was a session, and its id stays taken. Refused with
   * PERDURE_HAS_FORKS while others are forked from it, which `cascade` destroys with it. Safe to repeat.
   */
  erase(id: string, options?: EraseOptions): Promise<Erasure>;
  /** The same where it is enough to know whether there was such a session. */
  remove(id: string): Promise<boolean>;
}

export interface ForkOptions extends Omit<SessionOptions, 'parent'> {
  /** A revision of the session; its head when absent. */
  readonly at?: number;
}

export interface SessionTree {
  readonly id: string;
  readonly agentId: string;
  /** What it is to the one above it; `null` at the top. */
  readonly kind: 'child' | 'fork' | null;
  /** The revision from which a fork goes on. */
  readonly at: number | null;
  readonly isErased: boolean;
  readonly below: readonly SessionTree[];
}

export interface EraseOptions {
  /** Whether sessions that were forked from it go with it; `false` when absent. */
  readonly cascade?: boolean;
  /** Kept in what is left. */
  readonly reason?: string;
}

export interface Erasure {
  /** The sessions that are gone, those below first. */
  readonly sessions: readonly string[];
}

export interface ListOptions {
  /** At most this many; 50 when absent, 500 at the most. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface SessionPage {
  /** The most recently changed first. */
  readonly items: readonly SessionSummary[];
  readonly nextCursor: string | null;
}

export interface SessionSummary {
  readonly id: string;
  readonly tenant: string | null;
  readonly agentId: string;
  readonly workspace: string | null;
  /** The beginning of the first prompt. */
  readonly preview: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  readonly totalTokens: number;
  /** `importing` is not whole: its import goes on, or broke off and must be repeated. */
  readonly status: 'idle' | 'running' | 'waiting' | 'importing';
  readonly owner: string | null;
}

/** Agents of a runtime, for plugins that reach sessions. */
export interface AgentRegistry {
  get(id: string): Agent | undefined;
  list(): readonly Agent[];
}

/** A composed runtime: plugins loaded, stores open. */
export interface Runtime {
  agent(options: AgentOptions): Agent;
  readonly agents: AgentRegistry;
  /** What is loaded, for people. */
  plugins(): readonly { readonly name: string; readonly version: string; readonly status: string }[];
  dispose(): Promise<void>;
}
