/** Replaces what must not be shown in a text; see `Redaction`. */
export interface TextRedaction {
  readonly isEmpty: boolean;
  redactText(text: string): string;
  /** How many characters at the end of a text may be the beginning of something that must not be shown. */
  holdBack(text: string): number;
}

/**
 * Redacts a text that comes in pieces. It holds back what could be the beginning of a match, so that no piece of a
 * secret is let through before its end is known. The pieces that it gives add up to the redacted whole.
 */
export class StreamRedactor {
  private held = '';

  constructor(private readonly redaction: TextRedaction) {}

  /** What may be shown of the text so far. */
  push(piece: string): string {
    if (this.redaction.isEmpty) return piece;
    const text = this.held + piece;
    const cut = this.cutOf(text);
    this.held = text.slice(cut);
    return this.redaction.redactText(text.slice(0, cut));
  }

  /** The rest, when no more comes. */
  end(): string {
    const rest = this.redaction.redactText(this.held);
    this.held = '';
    return rest;
  }

  /** The last place at which the text can be parted without parting a match. */
  private cutOf(text: string): number {
    const hold = this.redaction.holdBack(text);
    const whole = this.redaction.redactText(text);
    for (let cut = text.length - hold; cut > 0; cut--) {
      if (this.redaction.redactText(text.slice(0, cut)) + this.redaction.redactText(text.slice(cut)) === whole)
        return cut;
    }
    return 0;
  }
}
