import { setImmediate } from 'node:timers/promises';

const LONGEST_TURN = 8;

/** Returns a function for long loops to call: it lets other work of the process go first once a turn has taken 8 ms. */
export function createPace(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < LONGEST_TURN) return undefined;
    return setImmediate().then(() => {
      began = performance.now();
    });
  };
}
