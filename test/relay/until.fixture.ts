import { setTimeout as delay } from 'node:timers/promises';

/** Waits until something holds. Throws with what is wrong after so many milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, what: () => unknown, ms = 90_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`in ${ms} ms it did not come to it: ${JSON.stringify(what())}`);
    await delay(25);
  }
}
