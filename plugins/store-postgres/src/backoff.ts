const FIRST = 50;
const LARGEST = 2_000;

/** How long to wait before the next try, after so many that failed. Milliseconds. */
export function backoff(failures: number): number {
  return Math.min(FIRST * 2 ** Math.max(failures - 1, 0), LARGEST);
}

/** Waits, or until something else happens. */
export async function waitOr(ms: number, other: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([time, other]);
  } finally {
    clearTimeout(timer);
  }
}
