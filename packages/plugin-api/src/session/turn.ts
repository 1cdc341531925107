import type {
  ArtifactReference,
  Failure,
  FilePart,
  JsonValue,
  SettlementStatus,
  Usage,
  UserPart,
} from '@perdure/events';

/** What to do with a prompt while a turn runs. `interrupt` stops that turn and begins a new one. */
export type WhenBusy = 'steer' | 'queue' | 'reject' | 'interrupt';

export interface PromptInput {
  /** Text, or parts; not empty. */
  readonly query: string | readonly UserPart[];
  readonly attachments?: readonly FilePart[];
  /** Chosen by the client: the same id again returns the same turn, whatever happened in between. */
  readonly promptId?: string;
  /** `steer` when absent. */
  readonly whenBusy?: WhenBusy;
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
  readonly error?: Failure;
  readonly usage: Usage;
  readonly turnId: string;
  readonly runId: string | null;
}

export interface TurnHandle {
  /** The turn's id. */
  readonly id: string;
  readonly promptId: string;
  /** Always resolves, on failure too. */
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
  readonly failure?: Failure;
}
