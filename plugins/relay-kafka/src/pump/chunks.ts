import type { RecordedFact } from '@perdure/events';
import type { FactBatch } from '@perdure/plugin-api';
import type { BatchOptions } from '../options.js';

/** Facts that are relayed together, in the order of the store. */
export interface Chunk {
  readonly facts: readonly RecordedFact[];
  /** Whether nothing was stored behind it when it was read. */
  readonly caughtUp: boolean;
}

type Limits = Pick<BatchOptions, 'maxFacts' | 'maxBytes' | 'lingerMs'>;

/** Headers and columns of a message, about. */
const OVERHEAD = 1_500;

/**
 * Cuts what a store gives into chunks by count, bytes and time. No more is asked of the store than one page beyond a
 * chunk: whoever does not take chunks holds the reading up. One without facts tells that nothing more is stored.
 */
export async function* chunks(
  subscribe: (signal: AbortSignal) => AsyncIterable<FactBatch>,
  limits: Limits,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const reading = new AbortController();
  const source = subscribe(AbortSignal.any([signal, reading.signal]))[Symbol.asyncIterator]();
  const waiting = new WaitingFacts(limits);
  let caughtUp = false;
  /** What the last chunk said. */
  let isTold = false;
  let next: Promise<IteratorResult<FactBatch>> | undefined;
  try {
    for (;;) {
      next ??= source.next();
      const step: IteratorResult<FactBatch> | 'late' =
        caughtUp && waiting.count > 0 ? await within(next, waiting.timeLeft()) : await next;
      if (step !== 'late') {
        next = undefined;
        if (step.done === true) return;
        waiting.add(step.value.facts);
        caughtUp = step.value.caughtUp;
      }
      // The rest may have been of other streams: that the end is reached is told all the same.
      if (caughtUp && waiting.count === 0 && !isTold) {
        isTold = true;
        yield { facts: [], caughtUp };
      }
      for (const facts of waiting.take(caughtUp && waiting.timeLeft() <= 0)) {
        isTold = caughtUp && waiting.count === 0;
        yield { facts, caughtUp: isTold };
      }
    }
  } finally {
    // A read that waits for what is to come ends with the signal.
    reading.abort();
    await next?.catch(() => undefined);
    await source.return?.();
  }
}

/** Facts that wait until they are a chunk. */
class WaitingFacts {
  private facts: RecordedFact[] = [];
  private since = 0;

  constructor(private readonly limits: Limits) {}

  get count(): number {
    return this.facts.length;
  }

  add(facts: readonly RecordedFact[]): void {
    if (this.facts.length === 0) this.since = performance.now();
    this.facts.push(...facts);
  }

  /** Milliseconds until the first of them has waited long enough. */
  timeLeft(): number {
    return this.limits.lingerMs - (performance.now() - this.since);
  }

  /** All that are whole chunks, and the rest too when `isDue`. */
  *take(isDue: boolean): Generator<readonly RecordedFact[]> {
    while (this.facts.length > 0) {
      const count = this.countOfChunk();
      if (count === this.facts.length && count < this.limits.maxFacts && !isDue) return;
      const chunk = this.facts.slice(0, count);
      this.facts = this.facts.slice(count);
      yield chunk;
    }
  }

  private countOfChunk(): number {
    let bytes = 0;
    for (const [index, fact] of this.facts.entries()) {
      bytes += fact.payload.length + fact.metadata.length + OVERHEAD;
      if (index === this.limits.maxFacts || (bytes > this.limits.maxBytes && index > 0)) return index;
    }
    return this.facts.length;
  }
}

async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
