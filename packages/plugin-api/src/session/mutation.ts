import type { ApprovalMode, ChildStatus, JsonValue, RunStatus, SettlementStatus } from '@perdure/events';
import type { Message } from './message.js';

/**
 * A change of a session as user interfaces want it.
 *
 * `sequence` counts the mutations of one subscription, from 1: a number that is left out is a gap. `cursor` is the
 * place behind the mutation, for `subscribe(listener, { from })` and `events({ from })`: whoever goes on there misses
 * nothing, and may meet again what belongs to the same fact. A client begins, and mends a gap, like this: read
 * `messages()`, keep its `cursor`, subscribe from there, and lead every mutation to what it has by `applyMutation`.
 */
export type Mutation =
  | MessageMutation
  | PartMutation
  | DeltaMutation
  | TurnMutation
  | SessionMutation
  | TitleMutation
  | ActionMutation
  | TaskMutation
  | ErrorMutation;

interface MutationBase {
  readonly sessionId: string;
  readonly sequence: number;
  readonly cursor: string;
}

/**
 * A message came, or changed: the whole message, as `messages()` has it. Whoever reads what is past may be given a
 * later revision than there was at that place.
 */
export interface MessageMutation extends MutationBase {
  readonly variant: 'message';
  readonly message: Message;
}

/** A part of an answer began or has another state. `messageId` is the id that the whole answer has or will have. */
export interface PartMutation extends MutationBase {
  readonly variant: 'part';
  readonly messageId: string;
  /** The place of the part in the answer, from 0. While the answer grows, parts without content are counted too. */
  readonly part: number;
  readonly content: PartContent;
}

export type PartContent =
  | { readonly type: 'text' | 'reasoning'; readonly state: 'streaming' | 'done' }
  | { readonly type: 'file'; readonly state: 'done'; readonly mediaType: string }
  | {
      readonly type: 'tool';
      readonly state: ToolPartState;
      readonly callId: string;
      readonly name: string;
      /** The arguments as text, with `ready` while the answer grows. */
      readonly inputText?: string;
    };

/**
 * A call's arguments come, are whole, wait for a person, or its tool runs; then what it came to. Calls that no answer
 * holds, as those of the host, are told by `activeTools()`.
 */
export type ToolPartState = 'input-streaming' | 'ready' | 'waiting' | 'running' | SettlementStatus;

/** A part of an answer grew. An answer that is stored when it is read comes as one delta for each part. */
export interface DeltaMutation extends MutationBase {
  readonly variant: 'delta';
  /** `tool-input` tells of progress alone: the whole arguments come with the part. */
  readonly type: 'text' | 'reasoning' | 'tool-input';
  readonly messageId: string;
  readonly part: number;
  readonly delta: string;
}

/** A turn goes on, has ended, or stands still until a node goes on with it. */
export interface TurnMutation extends MutationBase {
  readonly variant: 'turn';
  readonly type: 'start' | 'finish' | 'pause';
  readonly turnId: string;
  readonly status: 'running' | RunStatus;
  /** The text of its last answer, with `finish`. */
  readonly text?: string;
}

export type SessionMutation = MutationBase & { readonly variant: 'session' } & (
    | { readonly type: 'config'; readonly model: string | null; readonly approvals: ApprovalMode | null }
    /** `waiting` is for people alone. */
    | { readonly type: 'status'; readonly status: 'idle' | 'running' | 'waiting'; readonly turnId: string | null }
  );

/** What was done with the session beside its conversation: asked for (`running`), then in effect or refused. */
export interface ActionMutation extends MutationBase {
  readonly variant: 'action';
  /** The same for all that is told of one action: the id of the change, where somebody asked for it. */
  readonly id: string;
  readonly action: ActionName;
  readonly status: 'running' | 'completed' | 'failed';
  /** What it is about, as names: the model, variables, plugins. Values are never told. */
  readonly data?: Readonly<Record<string, JsonValue>>;
  readonly error?: { readonly code: string; readonly message: string };
}

export type ActionName =
  | 'model-switched'
  | 'title-set'
  | 'approvals-changed'
  | 'env-updated'
  | 'plugins-changed'
  | 'system-frozen'
  | 'system-refreshed'
  | 'system-followed'
  | 'compaction'
  | 'context-cleared';

/**
 * Work that was handed to another session began, got on, or ended. How it gets on is told to those who are there, at a
 * bounded rate, and never again; where it began and ended can be read at any time.
 */
export interface TaskMutation extends MutationBase {
  readonly variant: 'task';
  /** The id of the session that does the work. */
  readonly taskId: string;
  /** The call that handed it on. */
  readonly callId: string;
  readonly agent: string;
  readonly status: 'running' | ChildStatus;
  /** What the work is, with its beginning. */
  readonly description?: string;
  /** A call of it ended, or a step: as `subagent_progress` tells it. */
  readonly progress?: {
    readonly status: 'tool_completed' | 'turn_completed';
    readonly metadata: Readonly<Record<string, JsonValue>>;
  };
  /** Its last answer, cut to a bounded length, with its end. */
  readonly text?: string;
}

/** Something failed: the turn, or a try of its model call. */
export interface ErrorMutation extends MutationBase {
  readonly variant: 'error';
  readonly scope: 'turn' | 'model';
  readonly turnId: string | null;
  readonly code: string;
  readonly message: string;
  /** Whether the runtime goes on by itself. */
  readonly recoverable: boolean;
}

export interface MutationOptions {
  /**
   * A cursor of this session: what comes behind it, first what is stored and then what happens. From now on when
   * absent.
   */
  readonly from?: string;
  /**
   * Called once when no more comes, and not when the subscription is ended by its function. Without an error the
   * session was closed here; else PERDURE_CURSOR_INVALID, or why this process can tell no more of it.
   */
  readonly onEnd?: (error?: unknown) => void;
}

/** The session has another title. */
export interface TitleMutation extends MutationBase {
  readonly variant: 'session';
  readonly type: 'title';
  readonly title: string;
}
