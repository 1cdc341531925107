const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** When a server that could not be reached is tried again: twice as long after each failure. */
export class ReconnectTimer {
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly again: () => void) {}

  /** A failure was a short time ago, and whoever asks meanwhile is told of it. */
  get isWaiting(): boolean {
    return this.timer !== undefined;
  }

  start(): void {
    if (this.isStopped || this.timer !== undefined) return;
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.failures, 16));
    this.failures += 1;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.again();
    }, pause);
    this.timer.unref();
  }

  succeeded(): void {
    this.failures = 0;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
