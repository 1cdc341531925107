/**
 * Milliseconds that a change is left to the process that made it. Whoever answers goes on with the session itself when
 * it can; only then is it anybody's.
 */
export const REACTION_MS = 250;
/** The longest time, in milliseconds, between two tries with a session that cannot be looked after. */
const LONGEST_RETRY_MS = 30_000;

/** Milliseconds until the next try behind so many that failed. */
export function backOff(tries: number): number {
  return Math.min(LONGEST_RETRY_MS, REACTION_MS * 2 ** Math.min(tries, 16));
}
