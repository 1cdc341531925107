/** A time after which something is done, unless it is stopped before. It keeps no process alive. */
export class GraceTimer {
  private timer: NodeJS.Timeout | undefined;

  /** Begins it, unless it runs already. */
  begin(ms: number, due: () => void): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      due();
    }, ms).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
