import type { EventEnvelopeV1, Failure, RunStatus } from '@perdure/events';

/**
 * How a run stands. `created`: the host named it with a prompt that waits. `handed-over` and `superseded` are ends of
 * the run and not of its turn, which goes on in another run.
 */
export type RunRecordStatus = 'created' | 'executing' | RunStatus;

/** What is known of one attempt at a turn. It is read out of the session's stream; its first end stays its end. */
export interface RunSnapshot {
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly status: RunRecordStatus;
  /** The text of the prompt that opened the turn. */
  readonly prompt: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The last answer of a completed run. */
  readonly resultText?: string;
  /** Why a run failed. */
  readonly error?: Failure;
  /** How many facts the session's stream has from the run's first to its last; no retention makes it smaller. */
  readonly eventCount: number;
  /** The run of the same turn that ended before this one. */
  readonly resumedFrom?: string;
}

/**
 * One fact of the session's stream between the first and the last fact of a run; what others appended meanwhile is
 * among them.
 */
export interface RunEvent {
  /** From 0 on, without a gap, in every run. */
  readonly sequence: number;
  /** When the fact was written, in epoch milliseconds. */
  readonly timestamp: number;
  /** The type of the fact. */
  readonly fact: string;
  /** The fact as `events()` gives it to a reader who comes later: one event, or one for each part of an answer. */
  readonly events: readonly EventEnvelopeV1[];
}

export interface RunEventPageOptions {
  /** Only events with a larger sequence; from the first on when absent. */
  readonly afterSequence?: number;
  /** At most this many, 1 to 1,000; 100 when absent. */
  readonly limit?: number;
}

export interface RunEventPage {
  readonly events: readonly RunEvent[];
  /** The first sequence that is retained; `latestSequenceExclusive` when none is. */
  readonly firstAvailableSequence: number;
  readonly latestSequenceExclusive: number;
  /** What the next page is asked for with; `null` while there is nothing to be behind. */
  readonly nextAfterSequence: number | null;
  /** Events behind the given sequence, or from 0 on, are no longer retained. */
  readonly retentionGap: boolean;
  readonly hasMore: boolean;
}

/** A call that was started and is not settled. */
export interface ActiveTool {
  /** The call's id. */
  readonly id: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export interface SettleOptions {
  /** Milliseconds in which the run may end by itself once it is told to; 2,000 when absent. */
  readonly graceMs?: number;
  /** Milliseconds more, in which no call is waited for any longer; 1,000 when absent. */
  readonly abortGraceMs?: number;
}

/**
 * How a run was cancelled. `idle`: there was none. `settled`: it ended within the grace. `aborted`: it ended when its
 * calls were no longer waited for. `unsettled`: it has not ended; the request stands and whoever owns the session meets
 * it.
 */
export interface Settlement {
  readonly outcome: 'idle' | 'settled' | 'aborted' | 'unsettled';
  readonly runId: string | null;
  readonly status: RunRecordStatus | null;
}

/**
 * How much of its runs a session offers in this process; a member that is absent sets no bound. What is out of bounds
 * goes in the order in which it came, the run that goes on never. The session's stream is not touched: `events()` has
 * all of it.
 */
export interface SessionRetentionLimits {
  /** The newest so many runs. */
  readonly maxRunsRetained?: number;
  /** The newest so many events of each run. */
  readonly maxEventsPerRun?: number;
  /** The newest events of each run whose facts are together at most so many bytes. */
  readonly maxEventBytesPerRun?: number;
  /** Sessions keep no traces beside their facts: it is checked, and a warning says that it bounds nothing. */
  readonly maxTraceEvents?: number;
  /** Sessions delegate nothing: it is checked, and a warning says that it bounds nothing. */
  readonly maxTerminalSubagentTasks?: number;
}
