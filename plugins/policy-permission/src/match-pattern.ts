import { isPrefix, type Piece } from './pattern.js';

/** `undefined`: the text is too long to tell. */
export type Matcher = (text: string) => boolean | undefined;

/** Beyond this a pattern with wildcards is not tried, so that no call holds up the process. */
const LONGEST_TEXT = 50_000;

/**
 * Compiles a pattern. All ways to match are followed side by side, so the time is at most in proportion to the length
 * of the text times the length of the pattern, whatever they are.
 */
export function compilePattern(pieces: readonly Piece[]): Matcher {
  if (isPrefix(pieces)) {
    const text = pieces.map((piece) => (piece.kind === 'text' ? piece.character : '')).join('');
    return pieces.at(-1)?.kind === 'any' ? (given) => given.startsWith(text) : (given) => given === text;
  }
  const nodes = compileNodes(pieces);
  return (given) => (given.length > LONGEST_TEXT ? undefined : follow(nodes, given));
}

/** The nodes of a pattern. A place is a number of nodes that are done. */
interface Nodes {
  readonly count: number;
  /** The code point that a node takes, or one of the signs below. */
  readonly takes: Int32Array;
  /** For each place: itself, and the places that are reached from it without a character. */
  readonly reached: readonly Int32Array[];
}

const SLASH = 0x2f;
const ONE = -1;
const MANY = -2;
const ANY = -3;
/** Leads to the next node, or beyond the two after it. */
const MAYBE_TWO = -4;

function compileNodes(pieces: readonly Piece[]): Nodes {
  const takes = Int32Array.from(pieces.flatMap(nodesOf));
  const reached = Array.from({ length: takes.length + 1 }, () => new Int32Array());
  for (let place = takes.length; place >= 0; place -= 1) {
    const node = takes[place];
    const places = new Set([place]);
    const add = (from: number): void => reached[from]?.forEach((other) => places.add(other));
    if (node === MANY || node === ANY || node === MAYBE_TWO) add(place + 1);
    if (node === MAYBE_TWO) add(place + 3);
    reached[place] = Int32Array.from(places);
  }
  return { count: takes.length, takes, reached };
}

function nodesOf(piece: Piece): readonly number[] {
  switch (piece.kind) {
    case 'text':
      return [piece.character.codePointAt(0) ?? 0];
    case 'one':
      return [ONE];
    case 'many':
      return [MANY];
    case 'any':
      return [ANY];
    case 'folders':
      return [MAYBE_TWO, ANY, SLASH];
    case 'below':
      return [MAYBE_TWO, SLASH, ANY];
  }
}

function follow({ count, takes, reached }: Nodes, text: string): boolean {
  /** For each place of the pattern, the last character of the text after which it was reached. */
  const seen = new Int32Array(count + 1).fill(-1);
  let places = new Int32Array(count + 1);
  let next = new Int32Array(count + 1);
  places.set(reached[0] ?? []);
  let size = reached[0]?.length ?? 0;
  let done = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isSlash = code === SLASH;
    let nextSize = 0;
    for (let index = 0; index < size; index += 1) {
      const place = places[index] ?? 0;
      const node = takes[place];
      const isTaken = node === code || (node === ONE && !isSlash);
      if (!isTaken && node !== ANY && (node !== MANY || isSlash)) continue;
      const others = reached[isTaken ? place + 1 : place] ?? places;
      for (let other = 0; other < others.length; other += 1) {
        const entered = others[other] ?? 0;
        if (seen[entered] === done) continue;
        seen[entered] = done;
        next[nextSize] = entered;
        nextSize += 1;
      }
    }
    if (nextSize === 0) return false;
    [places, next] = [next, places];
    size = nextSize;
    done += 1;
  }
  return places.subarray(0, size).includes(count);
}
