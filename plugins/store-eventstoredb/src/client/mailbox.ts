/** Turns what a listener is told into something that can be iterated. */
export class Mailbox<Letter> {
  private letters: Letter[] = [];
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;

  put(letter: Letter): void {
    this.letters.push(letter);
    this.wake();
  }

  /** What came before is still given. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  async *all(signal: AbortSignal): AsyncGenerator<Letter> {
    const stop = (): void => this.wake();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const { letters } = this;
        this.letters = [];
        yield* letters;
        if (letters.length > 0) continue;
        if (this.failure !== undefined) throw this.failure.error;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
