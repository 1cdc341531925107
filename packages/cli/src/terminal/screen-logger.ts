import type { Logger } from '@perdure/plugin-api';
import { jsonText } from './json-text.js';
import type { Screen } from './screen.js';
import { visible } from './visible.js';

/**
 * Reports of the runtime as lines on standard error. While the runtime starts they are held: when the start fails, its
 * error says what happened, and reports of parts that "are left out" would only be in the way.
 */
export class ScreenLogger implements Logger {
  private held: string[] | undefined = [];

  /** For a runtime that only looks something up before the one that works starts. */
  static silent(screen: Screen): ScreenLogger {
    const logger = new ScreenLogger(screen, { json: false, debug: false });
    logger.log = () => undefined;
    return logger;
  }

  constructor(
    private readonly screen: Screen,
    private readonly options: { readonly json: boolean; readonly debug: boolean },
  ) {}

  log(level: Parameters<Logger['log']>[0], message: string, data: Parameters<Logger['log']>[2] = {}): void {
    if (level !== 'warn' && level !== 'error' && !this.options.debug) return;
    const line = this.options.json ? jsonText({ log: { level, message, ...data } }) : this.words(level, message, data);
    if (this.held !== undefined) this.held.push(line);
    else void this.screen.note(line);
  }

  /** The start succeeded: what was held is shown, and what comes is shown at once. */
  async release(): Promise<void> {
    const { held = [] } = this;
    this.held = undefined;
    for (const line of held) await this.screen.note(line);
  }

  private words(level: string, message: string, data: Readonly<Record<string, string | number>>): string {
    const { style } = this.screen;
    const label = level === 'warn' ? style.yellow('warning:') : level === 'error' ? style.red('error:') : `${level}:`;
    const details = Object.entries(data).map(([key, value]) => `${key}: ${value}`);
    return `${label} ${visible(details.length === 0 ? message : `${message} (${details.join(', ')})`)}`;
  }
}
