import { spend, type Work } from './work.js';

/** Matches one segment of a path. */
export type SegmentMatcher = (segment: string, work: Work) => boolean;

type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly has: (character: string) => boolean };

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /^[\p{L}\p{N}]$/u,
  alpha: /^\p{L}$/u,
  digit: /^[0-9]$/,
  lower: /^\p{Ll}$/u,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^\s$/,
  upper: /^\p{Lu}$/u,
  xdigit: /^[0-9a-fA-F]$/,
};

/**
 * Compiles a pattern without `/`: `*`, `?`, `[…]` with ranges, negation and POSIX classes, and `\` before a character
 * that stands for itself. Hidden names are matched like others. Matching takes at most the product of the two lengths.
 *
 * @throws SyntaxError for a set that does not end, or a `\` at the end
 */
export function segmentMatcher(pattern: string): SegmentMatcher {
  const tokens = tokenize([...pattern]);
  const [first, second, ...rest] = tokens;
  if (tokens.every((token) => token.kind === 'text')) {
    const whole = tokens.map((token) => (token.kind === 'text' ? token.text : '')).join('');
    return (segment) => segment === whole;
  }
  if (first?.kind === 'many' && second === undefined) return () => true;
  if (first?.kind === 'many' && second?.kind === 'text' && rest.every((token) => token.kind === 'text')) {
    const end = tokens.map((token) => (token.kind === 'text' ? token.text : '')).join('');
    return (segment) => segment.endsWith(end);
  }
  return (segment, work) => matches(tokens, [...segment], work);
}

/** Goes back to the last `*` only: when a later one is reached, the earlier ones need no other choice. */
function matches(tokens: readonly Token[], characters: readonly string[], work: Work): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    spend(work);
    const current = tokens[token];
    if (current?.kind === 'many') {
      star = token;
      resume = at;
      token += 1;
    } else if (current !== undefined && accepts(current, characters[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      token = star + 1;
    } else return false;
  }
  while (tokens[token]?.kind === 'many') token += 1;
  return token === tokens.length;
}

function accepts(token: Token, character: string): boolean {
  if (token.kind === 'text') return token.text === character;
  return token.kind === 'set' ? token.has(character) !== token.negated : true;
}

function tokenize(characters: readonly string[]): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many' });
    } else if (character === '?') tokens.push({ kind: 'one' });
    else if (character === '[') {
      const set = readSet(characters, at);
      tokens.push(set.token);
      at = set.end;
    } else if (character === '\\') {
      at += 1;
      const taken = characters[at];
      if (taken === undefined) throw new SyntaxError('the pattern ends with a backslash');
      tokens.push({ kind: 'text', text: taken });
    } else tokens.push({ kind: 'text', text: character });
  }
  return tokens;
}

function readSet(characters: readonly string[], start: number): { readonly token: Token; readonly end: number } {
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const tests: ((character: string) => boolean)[] = [];
  const first = start + (negated ? 2 : 1);
  let at = first;
  for (; characters[at] !== ']' || at === first; at += 1) {
    if (characters[at] === undefined) throw new SyntaxError('a set of characters does not end with ]');
    const named = readClass(characters, at);
    if (named !== undefined) {
      tests.push((character) => named.expression.test(character));
      at = named.end;
      continue;
    }
    if (characters[at] === '\\') at += 1;
    const low = characters[at] ?? '';
    if (characters[at + 1] === '-' && characters[at + 2] !== undefined && characters[at + 2] !== ']') {
      at += characters[at + 2] === '\\' ? 3 : 2;
      const high = characters[at] ?? '';
      tests.push((character) => codePoint(character) >= codePoint(low) && codePoint(character) <= codePoint(high));
    } else tests.push((character) => character === low);
  }
  return { token: { kind: 'set', negated, has: (character) => tests.some((test) => test(character)) }, end: at };
}

function readClass(
  characters: readonly string[],
  at: number,
): { readonly expression: RegExp; readonly end: number } | undefined {
  if (characters[at] !== '[' || characters[at + 1] !== ':') return undefined;
  const close = characters.indexOf(':', at + 2);
  if (close === -1 || characters[close + 1] !== ']') return undefined;
  const name = characters.slice(at + 2, close).join('');
  const expression = CLASSES[name];
  if (expression === undefined) throw new SyntaxError(`there is no class of characters [:${name}:]`);
  return { expression, end: close + 1 };
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? -1;
}
