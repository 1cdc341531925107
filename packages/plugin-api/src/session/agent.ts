import type { Labels } from '@perdure/events';
import type { BudgetGuard } from '../ports/budget.js';
import type { McpServerSetting } from '../ports/mcp.js';
import type { LanguageModel } from '../ports/model.js';
import type { Tools } from '../ports/tool.js';
import type { PluginLike } from '../plugin.js';
import type { FileOptions } from './attachment.js';
import type { DrainOptions, DrainReport } from './placement.js';
import type { SessionRetentionLimits } from './run.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';

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
  /**
   * Variables that the tools of all its sessions are handed, in the place of those of the workspace by the same name.
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Whether a model is asked to give sessions their titles, once for each behind its first turns, in the background:
   * the session's own with `true`, or the one that is named. Each title is a model call that costs money, so `false`
   * when absent: a session is called by the first words of its first prompt then.
   */
  readonly titles?: boolean | string | TitleOptions;
}

export interface TitleOptions {
  /** The name of the model that is asked; the session's own when absent. */
  readonly model?: string;
  /** Whether sessions that work for others get titles too; `false` when absent. */
  readonly children?: boolean;
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
  /** The session's own variables, which come before its agent's. Given again, they supply what facts do not hold. */
  readonly env?: Readonly<Record<string, string>>;
  /** Member by member in the place of the agent's, in this process. */
  readonly retentionLimits?: SessionRetentionLimits;
  /**
   * The session that this one works for, of the same tenant; it must exist. Recorded when the session is made and never
   * changed: trees of sessions share a budget.
   */
  readonly parent?: string;
  /** The name of a definition that narrows the agent for this session. Recorded when the session is made. */
  readonly agent?: string;
  /** What the session is called, 1 to 200 characters; no model is asked for a title then. */
  readonly title?: string;
  /**
   * MCP servers of this session and those that work for it, by name, in this process. They are connected before the
   * session is given out, so `agent.session` refuses them with PERDURE_ASYNC_BUILD_REQUIRED. One that cannot be used is
   * PERDURE_SESSION_INITIALIZATION with its name, and no session is made; one that the session has already stays as it
   * is. A fork and an import take none.
   */
  readonly mcp?: Readonly<Record<string, McpServerSetting>>;
  /** The IANA name of the time zone that is recorded when the session is made; the host's when absent. */
  readonly timezone?: string;
}

/** Makes sessions and runs them. */
export interface Agent {
  readonly id: string;
  readonly sessions: Sessions;
  /** Resolves when every resource is there; throws the first error that hinders it. */
  ready(): Promise<void>;
  /**
   * A session, at once: its facts are read and written with its first use. Throws PERDURE_ASYNC_BUILD_REQUIRED while
   * the agent is not ready, or when MCP servers are among the options, and PERDURE_SESSION_EXISTS when this process has
   * a handle of that session already: `sessions.get` gives it.
   */
  session(workspace: string, options?: SessionOptions): Session;
  /**
   * Adds a plugin, in the place of one of the same name. It is a change of each session of the agent that is in memory:
   * asked for in its stream when the promise resolves, in effect at its next step boundary, and already in effect where
   * nothing ran. A step that runs keeps the tools, hooks and system it began with.
   */
  addPlugin(plugin: PluginLike): Promise<void>;
  /**
   * Removes a plugin that was given to this agent, in the same way. It is stopped when the last step that uses it has
   * ended; the promise waits for that only where nothing uses it. Whether there was such a plugin.
   */
  removePlugin(name: string): Promise<boolean>;
  /** Another instruction, from the next step of each session on whose system is not frozen. */
  setInstruction(instruction: string | readonly string[]): void;
  /**
   * Other variables for all sessions, in the place of those that the agent had: a change of each session that is in
   * memory, as a plugin is. Sessions that are opened later have them from then on. Throws PERDURE_INPUT_INVALID.
   */
  setEnv(env: Readonly<Record<string, string>>): Promise<void>;
  /** The same for some of them; `null` takes one away. */
  patchEnv(patch: Readonly<Record<string, string | null>>): Promise<void>;
  /**
   * Ends running turns at a point from which they can be resumed, releases the sessions and stops the agent's plugins.
   */
  dispose(): Promise<void>;
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
  /**
   * Gives all sessions of this node to others. From here on it takes none: prompts that are given to it are accepted,
   * and another node answers them; host calls are PERDURE_NODE_DRAINING. Resolves when no session is left. Handles stay
   * and follow their sessions. There is no way back but another process.
   */
  drain(options?: DrainOptions): Promise<DrainReport>;
  /**
   * Resolves when this node was drained: by `drain`, or by an operator who asked for it through the store, which a node
   * hears from the moment at which it has an agent.
   */
  readonly drained: Promise<DrainReport>;
  /** Shows this node to others also while it has no session, so that sessions can be left to it by its name. */
  join(): Promise<void>;
  dispose(): Promise<void>;
}
