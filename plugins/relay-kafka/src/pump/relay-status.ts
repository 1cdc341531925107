import type { ErrorCode } from '@perdure/plugin-api';

/**
 * What a relay does. `standby`: another one has the right to relay. `away`: the brokers cannot be used, and it tries
 * again. `failed`: somebody must do something first; `run` has ended with that error.
 */
export type RelayState = 'standby' | 'relaying' | 'away' | 'failed' | 'stopped';

export interface RelayStatus {
  readonly state: RelayState;
  /** The number of the ownership; 0 while another one has it. */
  readonly epoch: number;
  /** Everything up to here is on the topic. */
  readonly position: string | undefined;
  /** Nothing was stored behind that when the store was last read. */
  readonly caughtUp: boolean;
  /** Milliseconds since the oldest fact that is read and not yet on the topic came to be; 0 without one. */
  readonly lagMs: number;
  /** Facts and transactions that this process has sent, and facts among them that became dead letters. */
  readonly sent: number;
  readonly transactions: number;
  readonly deadLetters: number;
  /** Producers that were given up after a rejection. */
  readonly restarts: number;
  readonly lastError?: { readonly code: ErrorCode; readonly message: string };
}
