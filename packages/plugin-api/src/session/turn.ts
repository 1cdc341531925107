import type {
  ArtifactReference,
  Failure,
  FilePart,
  JsonValue,
  SettlementStatus,
  Usage,
  UserPart,
} from '@perdure/events';
import type { Attachment } from './attachment.js';

/** What to do with a prompt while a turn runs. `interrupt` stops that turn and begins a new one. */
export type WhenBusy = 'steer' | 'queue' | 'reject' | 'interrupt';

export interface PromptInput {
  /** Text, or parts; not empty. */
  readonly query: string | readonly UserPart[];
  /** Kept as artifacts, and shown to models behind the query. */
  readonly attachments?: readonly Attachment[];
  /** Chosen by the client: the same id again returns the same turn, whatever happened in between. */
  readonly promptId?: string;
  /**
   * `steer` when absent with `prompt`, `reject` with `send` and `stream`. With a `runId` it is never `steer`, and
   * `queue` when absent with `prompt`: such a prompt opens a turn of its own.
   */
  readonly whenBusy?: WhenBusy;
  /**
   * The id that the first run of the turn gets; 1 to 200 characters. The same id again with the same input is the same
   * turn, from whatever process; with another input, or where that id is another run's, it is
   * PERDURE_RUN_IDENTITY_CONFLICT. Another session of the tenant that used the id is noticed when that was in this
   * runtime.
   */
  readonly runId?: string;
}

export type PromptLike = string | PromptInput;

/**
 * How a turn stands. `suspended` is not an end: this process no longer follows the turn, and it can be resumed.
 */
export type TurnStatus = 'completed' | 'failed' | 'cancelled' | 'suspended';

export interface TurnResult {
  readonly success: boolean;
  readonly status: TurnStatus;
  /** The text of the last answer of the turn. */
  readonly text: string;
  /** Why it is no success; PERDURE_TURN_STOPPED for one that was stopped. Absent with success alone. */
  readonly error?: Failure;
  readonly usage: Usage;
  readonly turnId: string;
  readonly runId: string | null;
}

export interface TurnHandle {
  /** The turn's id. */
  readonly id: string;
  readonly promptId: string;
  /** Whether the prompt, or the run that it names, was accepted before: nothing was added. */
  readonly replayed: boolean;
  /** Always resolves, on failure too. Waiting for it does not keep a session in memory that waits for people. */
  readonly finished: Promise<TurnResult>;
  /** Asks for the turn to end. Resolves when the request is durable, not when the turn has ended. */
  stop(reason?: string): Promise<StopResult>;
}

export interface StopResult {
  /** Whether a turn was there to be stopped. */
  readonly stopped: boolean;
  readonly turnId: string | null;
}

/** The outcome of a call that a host makes itself. */
export interface ToolOutcome {
  readonly callId: string;
  readonly name: string;
  readonly status: SettlementStatus;
  readonly output?: JsonValue;
  readonly artifact?: ArtifactReference;
  /** Files that the tool gave beside its output. One that could not be kept names no artifact. */
  readonly files?: readonly FilePart[];
  readonly failure?: Failure;
}
