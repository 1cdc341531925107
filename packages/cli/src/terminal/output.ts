import type { Writable } from 'node:stream';

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * A stream that is written with respect for its reader: a write resolves when there is room for more. A reader that
 * goes away (`| head`) is no error: `closed` aborts, and what is written then is dropped.
 */
export class Output {
  private readonly ending = new AbortController();
  private failure: Error | undefined;
  /** Whether the last character written was a line end, or none was. */
  isAtLineStart = true;

  constructor(private readonly stream: OutputStream) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') this.failure ??= error;
      this.ending.abort();
    });
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** Characters that a line should have. A reader that is no terminal gets longer ones. */
  get width(): number {
    return this.isTerminal ? this.stream.columns || 80 : 200;
  }

  /** Aborts when nobody reads any more. */
  get closed(): AbortSignal {
    return this.ending.signal;
  }

  async write(text: string): Promise<void> {
    if (text === '' || this.closed.aborted) return;
    this.isAtLineStart = text.endsWith('\n');
    if (this.stream.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.stream.off('drain', done);
        this.closed.removeEventListener('abort', done);
        resolve();
      };
      this.stream.once('drain', done);
      this.closed.addEventListener('abort', done, { once: true });
    });
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }

  /** Resolves when everything is handed to the system. Throws when the stream broke, but for its reader's end. */
  async flush(): Promise<void> {
    if (!this.closed.aborted) await new Promise<void>((resolve) => this.stream.write('', () => resolve()));
    if (this.failure !== undefined) throw this.failure;
  }
}
