import type { FactBatch } from '@perdure/plugin-api';

/** Batches that end when one of the signals aborts, or when the follower is left, also while it waits. */
export function subscription(
  signals: readonly AbortSignal[],
  batches: (signal: AbortSignal) => AsyncGenerator<FactBatch, undefined>,
): AsyncIterable<FactBatch> {
  return {
    [Symbol.asyncIterator]() {
      const over = new AbortController();
      const end = (): void => over.abort();
      for (const signal of signals) {
        signal.addEventListener('abort', end, { signal: over.signal });
        if (signal.aborted) end();
      }
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
