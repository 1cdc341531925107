/** The longest time that a timer can be set for. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * How long a call may take: so long without a word of the server, and so long in all. It stands still while the server
 * waits for people.
 */
export class CallClock {
  private readonly over = new AbortController();
  private waits = 0;
  private spentMs = 0;
  private since = performance.now();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly silenceMs: number,
    private readonly totalMs: number,
  ) {
    this.start();
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  /** The server showed that it lives. */
  hear(): void {
    if (this.waits > 0) return;
    this.stop();
    this.start();
  }

  async standStill<Result>(people: Promise<Result>): Promise<Result> {
    if (this.waits === 0) this.stop();
    this.waits += 1;
    try {
      return await people;
    } finally {
      this.waits -= 1;
      if (this.waits === 0) this.start();
    }
  }

  end(): void {
    clearTimeout(this.timer);
    this.waits = Number.POSITIVE_INFINITY;
  }

  private start(): void {
    this.since = performance.now();
    const left = Math.min(this.silenceMs, this.totalMs - this.spentMs, LONGEST_TIMER);
    this.timer = setTimeout(() => this.over.abort(new Error('no answer')), Math.max(0, left));
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.spentMs += performance.now() - this.since;
  }
}
