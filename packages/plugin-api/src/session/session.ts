import type { ApprovalMode, EventEnvelopeV1, JsonValue, SystemBlock } from '@perdure/events';
import type { ByteRange } from '../ports/artifact-store.js';
import type { BudgetGuard } from '../ports/budget.js';
import type { ChildReport } from '../ports/delegation.js';
import type { HookConfig, HookEvent, HookHandler, HookMatcher } from '../ports/hook.js';
import type { ClusterEvent } from './cluster-event.js';
import type { CommandHandler, CommandInfo } from './command.js';
import type { Interaction, InteractionResponse } from './interaction.js';
import type { Mutation, MutationOptions } from './mutation.js';
import type { ObjectRequest, ObjectResult } from './object.js';
import type {
  ActiveTool,
  RunEvent,
  RunEventPage,
  RunEventPageOptions,
  RunSnapshot,
  SettleOptions,
  Settlement,
} from './run.js';
import type { SessionMcp } from './session-mcp.js';
import type { MessagePage, MessagesOptions, SessionInfo, SessionView } from './session-view.js';
import type { PromptInput, PromptLike, StopResult, ToolOutcome, TurnHandle, TurnResult } from './turn.js';

/**
 * A durable conversation. Its whole state is one stream of facts; this object is a view of it and may be thrown away.
 */
export interface Session {
  readonly id: string;
  readonly agentId: string;
  readonly tenantId: string | null;
  readonly principal: string | null;
  readonly agentTemplateId: string | null;
  readonly correlationId: string | null;

  /**
   * Resolves when the prompt is durable, before any model call. A prompt during a turn steers it unless told otherwise.
   *
   * A text `/name …` is a command here and with `send` and `stream`: its answer is the result, no model is asked and no
   * turn begins. It needs the session for itself (PERDURE_SESSION_BUSY), and a name that no command has is
   * PERDURE_COMMAND_UNKNOWN. A text that only looks like one goes to the model with a space before it.
   */
  prompt(input: PromptLike): Promise<TurnHandle>;
  /** A prompt and its end. Refuses with PERDURE_SESSION_BUSY while a turn runs. */
  send(input: PromptLike): Promise<TurnResult>;
  /** A prompt and its events as they happen. Refuses as `send` does. Leaving the loop cancels nothing. */
  stream(input: PromptLike): TurnStream;
  /** Goes on with the turn of a run that did not end, as a new run. */
  resumeRun(runId: string, options?: ResumeOptions): Promise<TurnResult>;
  /** Goes on with the turn that did not end, if there is one. A turn that waits for people is only followed. */
  resume(options?: ResumeOptions): Promise<TurnHandle | null>;
  /** Ends the running turn and takes back prompts that wait. */
  stop(reason?: string): Promise<StopResult>;

  /** The runs, in the order in which they came; see `SessionRetentionLimits`. */
  runs(): Promise<readonly RunSnapshot[]>;
  /** `null` for a run that is not known or no longer retained. */
  runSnapshot(runId: string): Promise<RunSnapshot | null>;
  /** The retained events of a run, all at once; none for one that is not known. Page through a run that may be long. */
  runEvents(runId: string): Promise<readonly RunEvent[]>;
  /** `null` for a run that is not known or no longer retained. */
  runEventPage(runId: string, options?: RunEventPageOptions): Promise<RunEventPage | null>;
  /** The run that goes on; `null` when none does. */
  currentRun(): Promise<RunSnapshot | null>;
  /** Calls that are started and not settled: of the run that goes on, and of the host. */
  activeTools(): Promise<readonly ActiveTool[]>;
  /** Asks for the end of a run. `true` only if it is the one that goes on; resolves when the request is durable. */
  cancelRun(runId: string): Promise<boolean>;
  /** Asks the run that goes on to end, and waits until it has, or the time is over. */
  cancelAndSettle(options?: SettleOptions): Promise<Settlement>;

  /**
   * Everything from a cursor on, then what comes, until the signal aborts or the session is closed here. A session that
   * is read stays in memory.
   */
  events(options?: EventsOptions): AsyncIterable<EventEnvelopeV1>;
  /**
   * Changes from a cursor on, or from now on, shaped for user interfaces; see `Mutation`. The function that it returns
   * ends it; the session stays in memory until then. Nothing is queued for a listener: one that returns a promise is
   * waited for and reads on where it was, and one that throws is reported and goes on with the next.
   */
  subscribe(listener: (mutation: Mutation) => unknown, options?: MutationOptions): () => void;

  info(): Promise<SessionInfo>;
  /** The session as it was behind a revision of its stream. Throws PERDURE_INPUT_INVALID for one that it has not. */
  at(revision: number): Promise<SessionView>;
  messages(options?: MessagesOptions): Promise<MessagePage>;
  /**
   * The bytes of a file or an output that the session's facts name; `null` for any other, and for one that is no longer
   * kept.
   */
  artifact(digest: string, range?: ByteRange): Promise<Uint8Array | null>;
  /** The system prompt in effect, block by block. */
  system(): Promise<readonly SystemBlock[]>;
  /** Freezes the system prompt as it is now. */
  snapshot(): Promise<ChangeHandle>;
  /** Makes the system prompt anew from the agent's present state, and keeps that if it was frozen. */
  syncshot(): Promise<ChangeHandle>;
  /**
   * Asks for a change at the next step boundary; at once when no turn runs. Of several each is applied or refused by
   * itself, and the handle tells the first refusal.
   */
  set(change: SessionChange): Promise<ChangeHandle>;
  /** Replaces the older part of what models see by a summary of it. */
  compact(): Promise<ChangeHandle>;
  /**
   * Has the session's model make an object of a schema, beside the conversation: nothing of it is in `messages()`, and
   * models do not see it later. An answer that is no JSON or breaks the schema is told to the model with what is wrong,
   * `maxRepairs` times; then PERDURE_OBJECT_INVALID names the path. Runs on the node that owns the session
   * (PERDURE_SESSION_OWNED elsewhere). A call whose process died is not made again. Rejects with the code of a model
   * call that failed, and with the reason of its signal.
   */
  generateObject<Value = JsonValue>(request: ObjectRequest): Promise<ObjectResult<Value>>;
  /** Writes the session in its exchange form to the snapshot store, in one atomic call. */
  save(): Promise<void>;

  /**
   * Has the host's own code run at a point of this session, in this process, from the next step on. A hook of the same
   * id is replaced. Throws PERDURE_INPUT_INVALID.
   */
  registerHook<Event extends HookEvent>(
    id: string,
    event: Event,
    matcher?: HookMatcher | null,
    config?: HookConfig | null,
    handler?: HookHandler<Event> | null,
  ): void;
  /** Whether there was such a hook. */
  unregisterHook(id: string): boolean;
  /** How many hooks were registered here; those of plugins are not among them. */
  hookCount(): number;

  /**
   * The session's own budget guard in the place of the agent's, in this process, from the next step on; `null` is none.
   * Guards of plugins are asked all the same.
   */
  setBudgetGuard(guard: BudgetGuard | null): void;

  /**
   * Has a handler answer prompts `/name …` of this session in this process, in the place of a model. A command of the
   * same name is replaced; it comes before one of a plugin, and that before one that is built in. Throws
   * PERDURE_INPUT_INVALID.
   */
  registerCommand(name: string, description: string, handler: CommandHandler, timeoutMs?: number): void;
  /** Whether there was such a command; those of plugins and those built in stay. */
  unregisterCommand(name: string): boolean;
  /** The commands in effect, by name. */
  listCommands(): readonly CommandInfo[];

  /** The MCP servers of this session. */
  readonly mcp: SessionMcp;

  /** What waits for a person's answer, the oldest first. */
  interactions(): Promise<readonly Interaction[]>;
  /**
   * Answers an interaction, from any process. Resolves when the answer is durable. The first answer counts: another one
   * is PERDURE_INTERACTION_ANSWERED and tells whose did; one that does not fit the request is refused and recorded.
   */
  respond(response: InteractionResponse): Promise<void>;

  /** Tells the session something of the cluster around it, from any node. Resolves when it is a fact. */
  emit(event: ClusterEvent): Promise<void>;

  /** Calls a tool as the trusted host: gates that guard against the model are passed by. */
  tool(name: string, input: JsonValue): Promise<ToolOutcome>;
  /** Calls a tool through every gate that the model's calls pass. */
  governedTool(name: string, input: JsonValue): Promise<ToolOutcome>;

  /**
   * Hands work to sessions of their own and waits for them, as a trusted call of the host. Resolves with how each
   * ended, in the order of the tasks; one that fails is a report too. Throws PERDURE_TOOL_FAILED when nothing was
   * handed on, and why: no plugin offers it, there is no such agent, or a limit is met.
   */
  parallel(tasks: readonly ParallelTask[], options?: ParallelOptions): Promise<ParallelOutcome>;

  /** Lets the session go: a running turn ends at a point from which it can be resumed. Safe to repeat. */
  close(): Promise<void>;
}

export interface ParallelTask {
  readonly agent: string;
  readonly prompt: string;
  /** A few words for people; the beginning of the prompt when absent. */
  readonly description?: string;
}

export interface ParallelOptions {
  /** How many tasks have to be completed for the whole to be a success; all of them when absent. */
  readonly minSuccessCount?: number;
}

export interface ParallelOutcome {
  readonly success: boolean;
  readonly tasks: readonly ChildReport[];
}

export interface TurnStream extends AsyncIterable<EventEnvelopeV1> {
  readonly finished: Promise<TurnResult>;
}

export interface ResumeOptions {
  /** Take the session from a live owner. */
  readonly takeOver?: boolean;
  /** Go on without models, tools or gates of the last step, any or those of these names; a fact says which. */
  readonly withoutMissing?: boolean | readonly string[];
}

export interface EventsOptions {
  /** The `metadata.cursor` of the last event that the reader has; the beginning when absent. */
  readonly from?: string;
  readonly signal?: AbortSignal;
}

/** What is to be another; at least one of them. */
export interface SessionChange {
  /** The name of a model. */
  readonly model?: string;
  /** What happens to calls that the rules leave open, in the place of the approval policy's own mode. */
  readonly approvals?: ApprovalMode;
  /** What the session is called; 1 to 200 characters. No model is asked for a title then. */
  readonly title?: string;
  /**
   * The session's own variables, which come before its agent's: values by name, `null` takes one away. Facts hold names
   * and salted digests; the values stay in this process and are given again, with the options of the session, where it
   * goes on elsewhere.
   */
  readonly env?: Readonly<Record<string, string | null>>;
}

export interface ChangeHandle {
  readonly id: string;
  /** Always resolves. */
  readonly finished: Promise<{
    readonly success: boolean;
    readonly error?: { readonly code: string; readonly message: string };
  }>;
}

export type { PromptInput, PromptLike, StopResult, ToolOutcome, TurnHandle, TurnResult };
