/** Lets calls about one stream go one after the other, and only so many calls go at a time. */
export class CallQueue {
  private readonly most: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly last = new Map<string, Promise<unknown>>();

  constructor(most: number) {
    this.most = most;
  }

  /** In the order of the calls for each stream. One that is urgent waits for no call about another stream. */
  async inOrder<Result>(stream: string, call: () => Promise<Result>, isUrgent = false): Promise<Result> {
    const before = this.last.get(stream);
    const result = (async () => {
      await before?.catch(() => undefined);
      return isUrgent ? call() : this.limited(call);
    })();
    this.last.set(stream, result);
    try {
      return await result;
    } finally {
      if (this.last.get(stream) === result) this.last.delete(stream);
    }
  }

  async limited<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.running >= this.most) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await call();
    } finally {
      // The place goes to the next one that waits.
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
