import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';

/** A pattern that cannot be used, and why. */
export class PatternRefused extends Error {}

export interface HostPattern {
  readonly kind: string;
  readonly pattern: string;
  readonly ignoreCase?: boolean | undefined;
}

const MOST_REPEATS = 1_024;
const LONGEST = 4_096;
/** Everything beyond ASCII is one place of a set. */
const SIZE = 129;

interface Atom {
  readonly set: Uint8Array;
  readonly min: number;
  readonly max: number;
}

/**
 * Makes a detector of a host's pattern: characters, escapes and sets, each with a bounded repetition. There are no
 * groups, alternatives or references, and what may be repeated a varying number of times cannot begin what follows it.
 * So there is one way to match at each place, and time is linear in the text. Throws PatternRefused.
 */
export function hostDetector({ kind, pattern, ignoreCase }: HostPattern): Detector {
  const atoms = atomsOf(pattern);
  const maxMatch = atoms.reduce((sum, { max }) => sum + max, 0);
  const minMatch = atoms.reduce((sum, { min }) => sum + min, 0);
  if (minMatch < 6) throw new PatternRefused('it finds texts of less than 6 characters');
  if (maxMatch > LONGEST) throw new PatternRefused(`it finds texts of more than ${LONGEST} characters`);
  for (const [index, atom] of atoms.entries()) {
    if (atom.min !== atom.max) assertOneWay(atom, atoms.slice(index + 1), ignoreCase === true);
  }
  const expression = new RegExp(pattern, ignoreCase === true ? 'gi' : 'g');
  return {
    kind,
    maxMatch,
    // Whatever ends with a gap may be the beginning where a gap has a place in the pattern.
    ...(atoms.some(({ set }) => holdsGap(set)) ? { continues: () => true } : {}),
    mayHold: (code) => atoms.some(({ set }) => set[Math.min(code, 128)] === 1),
    minMatch,
    hint: new RegExp(pattern, ignoreCase === true ? 'i' : ''),
    find(text) {
      const found: Finding[] = [];
      forEachMatch(expression, text, ({ index, 0: { length } }) => {
        found.push({ start: index, end: index + length, kind });
      });
      return found;
    },
  };
}

function holdsGap(set: Uint8Array): boolean {
  return [9, 10, 11, 12, 13, 32, 128].some((code) => set[code] === 1);
}

function assertOneWay(varying: Atom, behind: readonly Atom[], ignoreCase: boolean): void {
  for (const next of behind) {
    if (overlap(varying.set, next.set, ignoreCase)) {
      throw new PatternRefused(
        'what is repeated a varying number of times can also be the beginning of what follows it',
      );
    }
    if (next.min > 0) return;
  }
}

function overlap(a: Uint8Array, b: Uint8Array, ignoreCase: boolean): boolean {
  const fold = (set: Uint8Array, code: number): boolean => {
    const other = ignoreCase && /[A-Za-z]/.test(String.fromCharCode(code)) ? code ^ 32 : code;
    return set[code] === 1 || set[other] === 1;
  };
  for (let code = 0; code < SIZE; code++) if (fold(a, code) && fold(b, code)) return true;
  return false;
}

function atomsOf(pattern: string): readonly Atom[] {
  const atoms: Atom[] = [];
  let at = 0;
  while (at < pattern.length) {
    const [set, next] = setAt(pattern, at);
    const [min, max, end] = repeatsAt(pattern, next);
    if (max > MOST_REPEATS || min > max) throw new PatternRefused(`a repetition is at most {${MOST_REPEATS}}`);
    atoms.push({ set, min, max });
    at = end;
  }
  return atoms;
}

function setAt(pattern: string, at: number): readonly [Uint8Array, number] {
  const character = pattern.charAt(at);
  if (character === '[') return classAt(pattern, at + 1);
  if (character === '\\') return [escaped(pattern.charAt(at + 1)), at + 2];
  if ('()|*+?{}^$.]'.includes(character)) throw new PatternRefused(`"${character}" has no place at ${at}`);
  return [single(character), at + 1];
}

function classAt(pattern: string, from: number): readonly [Uint8Array, number] {
  let at = from;
  const isNegated = pattern.charAt(at) === '^';
  if (isNegated) at += 1;
  const set = new Uint8Array(SIZE);
  while (at < pattern.length && pattern.charAt(at) !== ']') {
    const [low, next] = memberAt(pattern, at);
    at = next;
    if (typeof low === 'object') {
      for (const [code, has] of low.entries()) if (has === 1) set[code] = 1;
    } else if (pattern.charAt(at) === '-' && pattern.charAt(at + 1) !== ']' && at + 1 < pattern.length) {
      const [high, end] = memberAt(pattern, at + 1);
      if (typeof high === 'object' || high < low) throw new PatternRefused('a range in a set has no end');
      for (let code = low; code <= Math.min(high, 127); code++) set[code] = 1;
      if (high > 127) set[128] = 1;
      at = end;
    } else set[Math.min(low, 128)] = 1;
  }
  if (pattern.charAt(at) !== ']') throw new PatternRefused('a set does not end');
  return [isNegated ? set.map((has) => 1 - has) : set, at + 1];
}

function memberAt(pattern: string, at: number): readonly [number | Uint8Array, number] {
  if (pattern.charAt(at) !== '\\') return [pattern.charCodeAt(at), at + 1];
  const letter = pattern.charAt(at + 1);
  return [/[dws]/.test(letter) ? escaped(letter) : single(letter).indexOf(1), at + 2];
}

function escaped(letter: string): Uint8Array {
  const sets: Readonly<Record<string, RegExp>> = { d: /\d/, w: /\w/, s: /\s/ };
  const expression = sets[letter];
  if (expression === undefined) {
    if (letter === '' || /[A-Za-z0-9]/.test(letter)) throw new PatternRefused(`"\\${letter}" is not known`);
    return single(letter);
  }
  const set = Uint8Array.from({ length: SIZE }, (_, code) => (expression.test(String.fromCharCode(code)) ? 1 : 0));
  if (letter === 's') set[128] = 1;
  return set;
}

function single(character: string): Uint8Array {
  const set = new Uint8Array(SIZE);
  set[Math.min(character.charCodeAt(0), 128)] = 1;
  return set;
}

const REPEATS = /\{([0-9]{1,5})(?:,([0-9]{1,5}))?\}/y;

function repeatsAt(pattern: string, at: number): readonly [number, number, number] {
  if (pattern.charAt(at) === '?') return [0, 1, at + 1];
  REPEATS.lastIndex = at;
  const match = REPEATS.exec(pattern);
  if (match === null) {
    if ('*+{'.includes(pattern.charAt(at) || ' ')) throw new PatternRefused(`the repetition at ${at} has no end`);
    return [1, 1, at];
  }
  const [whole, least = '', most = least] = match;
  return [Number(least), Number(most), at + whole.length];
}
