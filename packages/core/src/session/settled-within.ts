/** Waits until all of them have ended in some way, but no longer than so many milliseconds. Never rejects. */
export async function settledWithin(promises: Iterable<Promise<unknown>>, ms: number): Promise<void> {
  const waiting = [...promises];
  if (waiting.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([Promise.allSettled(waiting), over]);
  clearTimeout(timer);
}
