import type { PerdureError } from '@perdure/plugin-api';

/** Milliseconds for which the runtime leaves a session alone that failed here: twice as many after each failure. */
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** For how long a session that failed in this process is left to others. Its users may try at any time. */
export class FailurePause {
  private failed: { readonly error: PerdureError; readonly times: number; readonly until: number } | undefined;

  begin(error: PerdureError): void {
    const times = (this.failed?.times ?? 0) + 1;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(times - 1, 16));
    this.failed = { error, times, until: performance.now() + pause };
  }

  /** Throws the last failure while the pause behind it lasts. */
  check(): void {
    if (this.failed !== undefined && performance.now() < this.failed.until) throw this.failed.error;
  }
}
