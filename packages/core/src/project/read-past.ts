import {
  PerdureError,
  type EventStore,
  type FactBatch,
  type StoreSource,
  type SubscribeOptions,
} from '@perdure/plugin-api';
import { TimeoutReached, withTimeout } from '../invoke/with-timeout.js';

/** Milliseconds in which a store that is there gives some of its past. */
const NO_PROGRESS_MS = 10_000;

/**
 * What is stored when it is called, for somebody who waits: a subscription outlasts a store that is away, and this must
 * not. Throws PERDURE_STORE_UNAVAILABLE when nothing comes for so long; the time in which the reader works on a batch
 * does not count.
 */
export async function* readPast(
  store: EventStore,
  source: StoreSource,
  options: Omit<SubscribeOptions, 'signal'>,
  ms = NO_PROGRESS_MS,
): AsyncGenerator<FactBatch, undefined> {
  const leaving = new AbortController();
  const batches = store.subscribe(source, { ...options, signal: leaving.signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await withTimeout(ms, leaving.signal, () => batches.next());
      if (done === true) return undefined;
      yield value;
      if (value.caughtUp) return undefined;
    }
  } catch (error) {
    if (!(error instanceof TimeoutReached)) throw error;
    throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: error.message }, { cause: error });
  } finally {
    leaving.abort();
    // One that hangs would hold up whoever waited for it; what it fails with by now is about nobody.
    batches.return?.().catch(() => undefined);
  }
}
