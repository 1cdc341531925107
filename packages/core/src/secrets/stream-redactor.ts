import { applied, type Replacement } from './replacement.js';
import { isGap } from './secret-registry.js';
import type { TextRedaction } from './text-redaction.js';

/**
 * Redacts a text that comes in pieces. It holds back the segment that is not whole, at most twice the longest text that
 * is found, so that no piece of a secret is let through before its end is known. The pieces that it gives add up to the
 * redacted whole, and time is linear in it.
 */
export class StreamRedactor {
  private held = '';
  /** Whether anything was replaced. */
  hasChanged = false;

  constructor(private readonly redaction: TextRedaction) {}

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
      const isFull = this.held.length + at - from + 1 >= most;
      if (!isFull && !(hasSegments && isGap(piece.charCodeAt(at)))) continue;
      const segment = this.held + piece.slice(from, at + 1);
      if (!isFull && this.redaction.goesOn(segment)) continue;
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

  /** The rest, when no more comes. */
  end(): string {
    const rest = this.applied(this.held, this.redaction.scan(this.held));
    this.held = '';
    return rest;
  }

  private applied(text: string, replacements: readonly Replacement[]): string {
    const within = replacements.filter(({ end }) => end <= text.length);
    if (within.length > 0) this.hasChanged = true;
    return applied(text, within);
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
