import type { Position } from '../client/connection.js';

/** Enough for the largest number of 64 bits. */
const DIGITS = 20;
const TEXT = /^(\d{20})\.(\d{20})$/;

/** Two numbers of fixed width, so that positions sort as text. */
export function textOfPosition({ commit, prepare }: Position): string {
  return `${padded(commit)}.${padded(prepare)}`;
}

export function positionOf(text: string): Position | undefined {
  const [, commit, prepare] = TEXT.exec(text) ?? [];
  return commit === undefined || prepare === undefined
    ? undefined
    : { commit: BigInt(commit), prepare: BigInt(prepare) };
}

function padded(number: bigint): string {
  return number.toString().padStart(DIGITS, '0');
}
