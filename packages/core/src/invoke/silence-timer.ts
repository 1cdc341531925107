import { PerdureError } from '@perdure/plugin-api';

/**
 * Aborts a controller when nothing has come for a while. Providers do not always honour the signal that they are given,
 * so waits are raced with it.
 */
export class SilenceTimer {
  private readonly timer: NodeJS.Timeout;
  private readonly listeners: (() => void)[] = [];

  constructor(
    ms: number,
    private readonly controller: AbortController,
  ) {
    this.timer = setTimeout(() => controller.abort(new PerdureError('PERDURE_MODEL_TIMEOUT', { ms })), ms);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Waits for work that is done once, at most until the signal aborts. */
  race<Result>(work: PromiseLike<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.onAbort(reject);
      work.then(resolve, reject);
    });
  }

  onAbort(listener: (reason: unknown) => void): void {
    const { signal } = this;
    if (signal.aborted) return listener(signal.reason);
    const heard = (): void => listener(signal.reason);
    this.listeners.push(heard);
    return signal.addEventListener('abort', heard, { once: true });
  }

  /** A sign of life: the wait begins anew. */
  reset(): void {
    this.timer.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const listener of this.listeners) this.signal.removeEventListener('abort', listener);
  }
}
