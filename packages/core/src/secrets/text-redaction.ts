import type { Redactor } from '@perdure/plugin-api';
import { isLineEnd } from './encoded-runs.js';
import type { Replacement } from './replacement.js';
import { isGap, type SecretRegistry } from './secret-registry.js';
import { DEEPEST, TextScanner } from './text-scanner.js';
import { unescaped } from './unescaped.js';

/** Characters of a text's end that redactors are shown, to say whether something may go on. */
export const TAIL = 256;
/** Encoding makes a text longer: what is looked for may be so many times as long. */
const GROWTH = 4;
const LEAST = 4_096;
const OPENS_ENCODING = /[A-Za-z0-9+/=_\\%-]$|[&\\%][#A-Za-z0-9{]{0,8}$/;
const ONLY_GAPS = /^[ \t\r\n\v\f\u0080-\ud7ff\udc00-\uffff]*$/;

/**
 * What of texts must not be shown, and where they can be parted. A text is made of segments that end behind a gap; what
 * is found lies in one of them. Where segments end depends on nothing but the text up to there, so a text that comes in
 * pieces is redacted as the whole is.
 */
export class TextRedaction {
  private readonly scanner: TextScanner;
  /** Nothing is found in fewer characters. */
  readonly shortest: number;
  readonly isEmpty: boolean;
  /** The longest text in characters, as it is encoded, that is certain to be found. Streams hold back twice as much. */
  readonly longest: number;

  /** Whether texts can be parted at gaps: not where a redactor cannot say what goes on behind one. */
  readonly hasSegments: boolean;

  constructor(
    private readonly secrets: SecretRegistry,
    private readonly redactors: readonly Redactor[],
  ) {
    this.scanner = new TextScanner(secrets, redactors);
    this.isEmpty = secrets.isEmpty && redactors.length === 0;
    this.hasSegments = redactors.every((redactor) => redactor.continues !== undefined);
    this.longest = Math.max(LEAST, GROWTH * Math.max(secrets.longest, ...redactors.map(({ maxMatch }) => maxMatch)));
    this.shortest = Math.min(secrets.shortest, ...redactors.map(({ minMatch = 1 }) => minMatch));
  }

  /** What must not be shown of a segment. */
  scan(segment: string): readonly Replacement[] {
    return segment.length < this.shortest ? [] : this.scanner.scan(segment);
  }

  /** Whether a segment that ends with a gap goes on behind it. Its last `TAIL` characters are enough to say so. */
  goesOn(tail: string, length = tail.length, first = tail.charCodeAt(0)): boolean {
    const isWhole = length <= TAIL;
    if (isGap(first) && ONLY_GAPS.test(tail)) return false;
    // Escapes stand between what is looked for and the gap.
    for (let shown: string | undefined = tail, depth = 0; shown !== undefined && depth <= DEEPEST; depth++) {
      if (this.secrets.continues(shown, isWhole) || isLineEnd(shown)) return true;
      if (this.redactors.some((redactor) => goesOnFor(redactor, shown ?? ''))) return true;
      shown = unescaped(shown)?.text;
    }
    return false;
  }

  /** Whether something may have begun in a text that is no whole segment, and go on in the text behind it. */
  isOpen(held: string): boolean {
    if (this.isEmpty) return false;
    const tail = held.slice(-TAIL);
    const last = tail.charCodeAt(tail.length - 1);
    // Encodings of all sorts go on behind a letter or a digit, and escapes behind what begins them.
    if (isGap(last) ? this.goesOn(tail, held.length, held.charCodeAt(0)) : last >= 0xd800 || OPENS_ENCODING.test(tail))
      return true;
    for (let shown: string | undefined = tail, depth = 0; shown !== undefined && depth <= DEEPEST; depth++) {
      if (this.secrets.isBegun(shown) || this.redactors.some((redactor) => isOpenFor(redactor, shown ?? '')))
        return true;
      shown = unescaped(shown)?.text;
    }
    return false;
  }
}

function isOpenFor(redactor: Redactor, tail: string): boolean {
  try {
    return redactor.mayBegin?.(tail) ?? true;
  } catch {
    return true;
  }
}

function goesOnFor(redactor: Redactor, tail: string): boolean {
  try {
    return redactor.continues?.(tail) ?? true;
  } catch {
    return true;
  }
}
