/** The call was given up: what became of it is not known. */
export class TimeOut extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Waits for a call no longer than its limits. The client's own deadlines are not enough: some calls have none. */
export async function within<Result>(
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  call: Promise<Result>,
): Promise<Result> {
  // A call that fails after it was given up must not end the process.
  call.catch(() => undefined);
  signal?.throwIfAborted();
  let giveUp: (error: unknown) => void = () => undefined;
  const limit = new Promise<never>((_, reject) => (giveUp = reject));
  const timer = setTimeout(() => giveUp(new TimeOut(timeoutMs)), timeoutMs);
  const abort = (): void => giveUp(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([call, limit]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
