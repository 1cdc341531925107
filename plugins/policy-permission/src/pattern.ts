/** One piece of a pattern. */
export type Piece =
  /** This character. */
  | { readonly kind: 'text'; readonly character: string }
  /** `?`: one character, not `/`. */
  | { readonly kind: 'one' }
  /** `*`: any characters but `/`. */
  | { readonly kind: 'many' }
  /** `**`, or `:*` at the end: any characters. */
  | { readonly kind: 'any' }
  /** A segment `**` with its `/`: nothing, or anything up to a `/`. */
  | { readonly kind: 'folders' }
  /** `/**` at the end: nothing, or a `/` and anything after it. */
  | { readonly kind: 'below' };

/** Longer patterns can have no wildcards but one at the end: the time to match grows with the length. */
const LONGEST_PATTERN = 500;
const SIGN = /^[!-/:-@[-`{-~]$/;

/**
 * Reads the text between the parentheses of a rule.
 *
 * @throws SyntaxError
 */
export function parsePattern(text: string): readonly Piece[] {
  const characters = [...text];
  const pieces: Piece[] = [];
  let at = 0;
  while (at < characters.length) {
    const character = characters[at] ?? '';
    const stars = countStars(characters, at);
    const isLast = at + stars === characters.length;
    if (character === '\\') {
      const sign = characters[at + 1];
      if (sign === undefined || !SIGN.test(sign)) {
        throw new SyntaxError('a backslash must be followed by the sign that it stands for, such as \\* or \\\\');
      }
      pieces.push({ kind: 'text', character: sign });
      at += 2;
    } else if (character === ':' && characters[at + 1] === '*' && at + 2 === characters.length) {
      pieces.push({ kind: 'any' });
      at += 2;
    } else if (stars > 1) {
      const isSegment = at === 0 || characters[at - 1] === '/';
      const isFolders = isSegment && characters[at + stars] === '/';
      if (isSegment && isLast && pieces.at(-1)?.kind === 'text') pieces.splice(-1, 1, { kind: 'below' });
      else if (!isFolders) pieces.push({ kind: 'any' });
      else if (pieces.at(-1)?.kind !== 'folders') pieces.push({ kind: 'folders' });
      at += isFolders ? stars + 1 : stars;
    } else {
      pieces.push(pieceOf(character));
      at += 1;
    }
  }
  if (pieces.length > LONGEST_PATTERN && !isPrefix(pieces)) {
    throw new SyntaxError(`a pattern with wildcards can have ${LONGEST_PATTERN} characters`);
  }
  return pieces;
}

/** The pattern as text again: equal for patterns that mean the same pieces. */
export function formatPattern(pieces: readonly Piece[]): string {
  return pieces.map((piece, index) => formatPiece(piece, pieces, index)).join('');
}

/** A pattern for this very text. */
export function literalPattern(text: string): string {
  return text.replace(/[*?\\]/g, '\\$&');
}

/** Whether there is no wildcard but one for anything at the end. */
export function isPrefix(pieces: readonly Piece[]): boolean {
  return pieces.every(({ kind }, index) => kind === 'text' || (kind === 'any' && index === pieces.length - 1));
}

function countStars(characters: readonly string[], from: number): number {
  let at = from;
  while (characters[at] === '*') at += 1;
  return at - from;
}

function pieceOf(character: string): Piece {
  if (character === '*') return { kind: 'many' };
  return character === '?' ? { kind: 'one' } : { kind: 'text', character };
}

function formatPiece(piece: Piece, pieces: readonly Piece[], index: number): string {
  const isLast = index === pieces.length - 1;
  if (piece.kind === 'any') return isLast ? ':*' : '**';
  if (piece.kind === 'folders') return '**/';
  if (piece.kind === 'below') return '/**';
  if (piece.kind === 'many') return '*';
  if (piece.kind === 'one') return '?';
  // Before a star at the end, a colon of the text must not be read as the sign of a prefix.
  const isBeforeLastStar = index === pieces.length - 2 && pieces[index + 1]?.kind === 'many';
  return piece.character === ':' && isBeforeLastStar ? '\\:' : literalPattern(piece.character);
}
