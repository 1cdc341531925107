const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A provider that asks for more than this is not waited for longer: the try after it will tell. */
const LONGEST_ASKED_MS = 120_000;

/**
 * Waits before another try: as long as the provider asks, else twice as long each time. The wait is spread, so that
 * many sessions that failed together do not come back together. Ends early when the signal aborts.
 */
export async function backOff(
  failures: number,
  askedMs: number | undefined,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  const own = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  const ms = askedMs === undefined ? own * (0.5 + random() / 2) : Math.min(LONGEST_ASKED_MS, askedMs) + 100 * random();
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    return undefined;
  });
}
