/** A bound on the steps of matching, so that patterns and names that are chosen to be slow hold up nobody. */
export interface Work {
  left: number;
}

const MOST_STEPS = 5_000_000;
const TOO_MUCH = 'the pattern takes too many steps';

/** Work for one path. */
export function newWork(): Work {
  return { left: MOST_STEPS };
}

/** @throws an error that `isTooMuchWork` knows */
export function spend(work: Work): void {
  work.left -= 1;
  if (work.left < 0) throw new RangeError(TOO_MUCH);
}

export function isTooMuchWork(error: unknown): error is RangeError {
  return error instanceof RangeError && error.message === TOO_MUCH;
}
