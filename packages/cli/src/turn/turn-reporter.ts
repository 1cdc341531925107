import type { EventEnvelopeV1 } from '@perdure/events';
import type { TurnResult } from '@perdure/plugin-api';

/** A call that was denied, and the rule that would have allowed it when there is one. */
export interface DeniedCall {
  readonly callId: string;
  readonly tool: string;
  readonly reason: string;
  readonly code: string;
  /** For `--allow`. */
  readonly rule?: string;
}

/** How a turn ended for this process. */
export interface TurnEnd {
  readonly session: string;
  readonly result: TurnResult;
  readonly denied: readonly DeniedCall[];
  /** The command that goes on, when the turn is not at its end. */
  readonly resume?: string;
  /** The command for another prompt of the session. */
  readonly next: string;
  readonly exitCode: number;
}

/** Shows a turn as it goes on. Each call resolves when its reader can take more. */
export interface TurnReporter {
  event(event: EventEnvelopeV1, denied: DeniedCall | undefined): Promise<void>;
  end(end: TurnEnd): Promise<void>;
}
