/**
 * A place in the whole store. Facts are counted by `fact`. Drafts and leases are kept with weaker durability and
 * counted apart by `weak`, each behind the fact that was the last one when it came: so a power cut that takes some of
 * them never makes the place of a fact known twice.
 */
export interface Position {
  readonly fact: number;
  readonly weak: number;
}

const WIDTH = 16;
const POSITION = /^\d{16}\.\d{16}$/;
const NO_WEAK = `.${'0'.repeat(WIDTH)}`;

export const STORE_BEGINNING: Position = { fact: 0, weak: 0 };

/** Text of fixed width that sorts like the place. */
export function positionText(fact: number, weak: number): string {
  return String(fact).padStart(WIDTH, '0') + (weak === 0 ? NO_WEAK : `.${String(weak).padStart(WIDTH, '0')}`);
}

/** The place that a text tells; `undefined` for a text that is no position of such a store. */
export function parsePosition(text: string): Position | undefined {
  if (!POSITION.test(text)) return undefined;
  const position = { fact: Number(text.slice(0, WIDTH)), weak: Number(text.slice(WIDTH + 1)) };
  return Number.isSafeInteger(position.fact) && Number.isSafeInteger(position.weak) ? position : undefined;
}

/** Negative when `a` is before `b`. */
export function comparePositions(a: Position, b: Position): number {
  return a.fact - b.fact || a.weak - b.weak;
}
