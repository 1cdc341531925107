import { applied, type Replacement } from './replacement.js';
import { isGap } from './secret-registry.js';
import { TAIL, type TextRedaction } from './text-redaction.js';

/**
 * Redacts a text that comes in pieces. It holds back the segment that is not whole, at most twice the longest text that
 * is found, so that no piece of a secret is let through before its end is known. The pieces that it gives add up to the
 * redacted whole, and time is linear in it.
 */
export class StreamRedactor {
  private held = '';
  /** Where texts begin in what is held, and what became of the texts before them. */
  private seams: number[] = [];
  private parted: string[] = [];
  /** Whether anything was replaced. */
  hasChanged = false;

  /** @param least characters that are looked at together, at the least: more of them cost less, and are held longer */
  constructor(
    private readonly redaction: TextRedaction,
    private readonly least = 0,
  ) {}

  /** What may be shown of the text so far. */
  push(piece: string): string {
    if (this.redaction.isEmpty) return piece;
    const { hasSegments, longest } = this.redaction;
    const most = 2 * longest;
    const shown: string[] = [];
    let from = 0;
    // What stays as it is is copied at once, however many segments it has.
    let copied = 0;
    for (let at = 0; at < piece.length; at++) {
      const length = this.held.length + at - from + 1;
      if (length < this.least) {
        at += this.least - length - 1;
        continue;
      }
      const isFull = length >= most;
      if (!isFull && !(hasSegments && isGap(piece.charCodeAt(at)))) continue;
      // The segment itself, which may be long, is made of its two parts only when it ends.
      if (!isFull && this.goesOn(piece, from, at + 1)) continue;
      const segment = this.held + piece.slice(from, at + 1);
      const replacements = this.redaction.scan(segment);
      if (isFull || replacements.length > 0 || this.held !== '') {
        shown.push(piece.slice(copied, from));
        copied = at + 1;
        const cut = isFull ? this.cutOf(replacements) : segment.length;
        shown.push(this.applied(segment.slice(0, cut), replacements));
        this.held = segment.slice(cut);
      }
      from = at + 1;
    }
    shown.push(piece.slice(copied, from));
    this.held += piece.slice(from);
    return shown.join('');
  }

  private goesOn(piece: string, from: number, end: number): boolean {
    const { held } = this;
    const missing = TAIL - (end - from);
    const tail = missing > 0 ? held.slice(-missing) + piece.slice(from, end) : piece.slice(end - TAIL, end);
    const first = held === '' ? piece.charCodeAt(from) : held.charCodeAt(0);
    return this.redaction.goesOn(tail, held.length + end - from, first);
  }

  get holdsText(): boolean {
    return this.held !== '';
  }

  /** Whether what is held may be the beginning of something that goes on in another text. */
  get isOpen(): boolean {
    return this.held !== '' && this.redaction.isOpen(this.held);
  }

  /**
   * Ends a text whose end is held, and begins another that is read on with it. What was held of the one comes from
   * `takeParted` when it is known. A mark of what lies across belongs to the text in which it begins.
   */
  beginNext(): void {
    this.seams.push(this.held.length);
  }

  /** The ends of texts before the one that grows, as far as they are known, in their order. */
  takeParted(): readonly string[] {
    const { parted } = this;
    this.parted = [];
    return parted;
  }

  /** The rest, when no more comes. */
  end(): string {
    const rest = this.applied(this.held, this.redaction.scan(this.held));
    this.held = '';
    return rest;
  }

  private applied(text: string, replacements: readonly Replacement[]): string {
    const within = replacements.filter(({ end }) => end <= text.length);
    if (within.length > 0) this.hasChanged = true;
    if (this.seams.length === 0) return applied(text, within);
    let from = 0;
    const known = this.seams.filter((seam) => seam <= text.length);
    for (const seam of known) {
      const across = within.find(({ start, end }) => start < seam && end > seam);
      const end = Math.max(from, across?.end ?? seam);
      this.parted.push(appliedWithin(text, within, from, end));
      from = end;
    }
    this.seams = this.seams.slice(known.length).map((seam) => seam - text.length);
    return appliedWithin(text, within, from, text.length);
  }

  /**
   * Where a segment is parted that does not end: at the longest match, or where something begins that lies across it.
   * What lies across and begins the segment is given with its end: it cannot be kept for later.
   */
  private cutOf(replacements: readonly Replacement[]): number {
    const { longest } = this.redaction;
    const across = replacements.find(({ start, end }) => start < longest && end > longest);
    if (across === undefined) return longest;
    return across.start === 0 ? across.end : across.start;
  }
}

/** A piece of a text with the replacements that lie in it. */
function appliedWithin(text: string, replacements: readonly Replacement[], from: number, to: number): string {
  const within = replacements.filter(({ start, end }) => start >= from && end <= to);
  return applied(
    text.slice(from, to),
    within.map((each) => ({ ...each, start: each.start - from, end: each.end - from })),
  );
}
