import { TimeLimit, waitsForNobody, type Waits } from './time-limit.js';

/**
 * Runs work that may hang. Its signal aborts when the time is over or the outer signal aborts. Work that has not ended
 * by itself when the grace is over is no longer waited for: the promise rejects with the reason. `ms` may be infinite;
 * the time in which the work waits for people does not count.
 */
export async function withTimeout<Result>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => PromiseLike<Result> | Result,
  graceMs = 0,
  waits: Waits = waitsForNobody,
): Promise<Result> {
  outer.throwIfAborted();
  if (!Number.isFinite(ms)) return untilAborted(outer, work, graceMs);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  const limit = new TimeLimit(ms, waits, () => controller.abort(new TimeoutReached(ms)));
  try {
    return await untilAborted(controller.signal, work, graceMs);
  } finally {
    limit.end();
    outer.removeEventListener('abort', onAbort);
  }
}

async function untilAborted<Result>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => PromiseLike<Result> | Result,
  graceMs: number,
): Promise<Result> {
  let onAbort: () => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      const giveUp = (): void => reject(signal.reason as Error);
      if (graceMs === 0) giveUp();
      else timer = setTimeout(giveUp, graceMs);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** The reason with which `withTimeout` ends work that took too long. */
export class TimeoutReached extends Error {
  override readonly name = 'TimeoutReached';
  constructor(readonly ms: number) {
    super(`nothing came for ${ms} ms`);
  }
}
