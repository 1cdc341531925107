/** Wakes whoever waits that something changed. A waiter that is late looks again and misses nothing. */
export class Pulse {
  private resolve: (() => void) | undefined;
  private promise: Promise<void> | undefined;

  /** Resolves with the next beat. */
  next(): Promise<void> {
    this.promise ??= new Promise((resolve) => {
      this.resolve = resolve;
    });
    return this.promise;
  }

  beat(): void {
    const { resolve } = this;
    if (resolve === undefined) return;
    this.promise = undefined;
    this.resolve = undefined;
    resolve();
  }
}
