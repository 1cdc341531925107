import type { Readable } from 'node:stream';
import { createStyle, isColorWanted, type Style } from './ansi.js';
import { Output, type OutputStream } from './output.js';
import { Spinner } from './spinner.js';
import { visible } from './visible.js';

/** Where a command reads from and writes to. */
export interface ProcessStreams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly out: OutputStream;
  readonly error: OutputStream;
}

export interface ScreenOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `false` for `--no-color`. */
  readonly color: boolean;
}

/**
 * Both outputs as one picture: what a command is for goes to standard output, everything about it (progress, questions,
 * hints) to standard error. On a terminal lines of the two never run into each other.
 */
export class Screen {
  readonly out: Output;
  readonly error: Output;
  /** Styles of the two outputs. */
  readonly outStyle: Style;
  readonly style: Style;
  private readonly spinner: Spinner | undefined;
  private last: Output | undefined;

  constructor(
    readonly streams: ProcessStreams,
    { environment, color }: ScreenOptions,
  ) {
    this.out = new Output(streams.out);
    this.error = new Output(streams.error);
    this.outStyle = createStyle(isColorWanted(streams.out, environment, color));
    this.style = createStyle(isColorWanted(streams.error, environment, color));
    const isLive = this.error.isTerminal && environment['TERM'] !== 'dumb';
    this.spinner = isLive ? new Spinner(this.error, this.style.cyan) : undefined;
  }

  /** Whether a person can be asked. */
  get isInteractive(): boolean {
    return this.streams.input.isTTY === true && this.out.isTerminal;
  }

  /** Text of an answer, as it comes. A terminal gets it without control characters, a pipe to the letter. */
  async text(text: string): Promise<void> {
    await this.turnTo(this.out);
    await this.out.write(this.out.isTerminal ? visible(text) : text);
  }

  /** Text beside the answer, as it comes; for terminals alone. */
  async aside(text: string): Promise<void> {
    if (!this.error.isTerminal) return;
    await this.turnTo(this.error);
    const shown = visible(text);
    await this.error.write(this.style.dim(shown));
    this.error.isAtLineStart = shown.endsWith('\n');
  }

  /** One line about what happens. Its text is written as it is: whoever makes it takes care of control characters. */
  async note(line: string): Promise<void> {
    await this.turnTo(this.error);
    if (!this.error.isAtLineStart) await this.error.write('\n');
    await this.error.line(line);
  }

  /** Ends the line that text was written to. */
  async endText(): Promise<void> {
    await this.spinner?.hide();
    if (!this.out.isAtLineStart) await this.out.write('\n');
    if (this.error.isTerminal && !this.error.isAtLineStart) await this.error.write('\n');
  }

  /** Shows that something is under way, until the next output. */
  async wait(label: string): Promise<void> {
    if (this.spinner === undefined) return;
    await this.endText();
    this.spinner.show(label);
  }

  async rest(): Promise<void> {
    await this.spinner?.hide();
  }

  async flush(): Promise<void> {
    await this.rest();
    await this.error.flush();
    await this.out.flush();
  }

  private async turnTo(output: Output): Promise<void> {
    await this.spinner?.hide();
    const { last } = this;
    this.last = output;
    const isShared = last !== undefined && last !== output && last.isTerminal && output.isTerminal;
    if (isShared && !last.isAtLineStart) await last.write('\n');
  }
}
