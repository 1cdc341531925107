import type { FactBatch } from '@perdure/plugin-api';

/** Batches that end when one of the signals aborts, or when the follower is left, also while it waits. */
export function subscription(
  signals: readonly AbortSignal[],
  batches: (signal: AbortSignal) => AsyncGenerator<FactBatch, undefined>,
): AsyncIterable<FactBatch> {
  return {
    [Symbol.asyncIterator]() {
      const over = new AbortController();
      // A listener that is to go with another signal may stay: the store's own signal outlives all that follow it.
      const end = (): void => {
        for (const signal of signals) signal.removeEventListener('abort', end);
        over.abort();
      };
      for (const signal of signals) signal.addEventListener('abort', end);
      if (signals.some((signal) => signal.aborted)) end();
      const generator = batches(over.signal);
      return {
        async next() {
          const step = await generator.next();
          if (step.done === true) end();
          return step;
        },
        async return() {
          end();
          return generator.return(undefined);
        },
      };
    },
  };
}
