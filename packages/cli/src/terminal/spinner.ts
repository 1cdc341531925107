import { CLEAR_LINE } from './ansi.js';
import type { Output } from './output.js';
import { visibleLine } from './visible.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const EVERY_MS = 100;

/** A sign of life on the last line of a terminal. It shows nothing for waits that are too short to see. */
export class Spinner {
  private timer: NodeJS.Timeout | undefined;
  private label = '';
  private frame = 0;
  private isShown = false;

  constructor(
    private readonly output: Output,
    private readonly paint: (text: string) => string,
  ) {}

  show(label: string): void {
    this.label = label;
    this.timer ??= setInterval(() => this.draw(), EVERY_MS).unref();
  }

  /** Takes it away; the line is empty and the cursor at its beginning. */
  async hide(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    if (!this.isShown) return;
    this.isShown = false;
    await this.output.write(CLEAR_LINE);
    this.output.isAtLineStart = true;
  }

  private draw(): void {
    const frame = FRAMES[this.frame++ % FRAMES.length] ?? '';
    const text = visibleLine(this.label, Math.max(10, this.output.width - 4));
    this.isShown = true;
    void this.output.write(`${CLEAR_LINE}${this.paint(`${frame} ${text}`)}`);
  }
}
