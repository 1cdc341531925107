import type { RecordedFact } from '@perdure/events';
import type { EventStore, FactBatch, StoreSource, StreamSource, SubscribeOptions } from '@perdure/plugin-api';

/** A subscription that a test reads as far as it wants to. */
export interface Follower {
  /** Every batch so far. */
  readonly batches: readonly FactBatch[];
  readonly facts: readonly RecordedFact[];
  /** Reads on until the condition holds. Fails when the subscription ends before. */
  until(condition: (follower: Follower) => boolean): Promise<void>;
  /** Reads on until a batch is caught up. */
  caughtUp(): Promise<void>;
  /** Reads on to the end of the subscription. */
  end(): Promise<void>;
  leave(): Promise<void>;
}

export function follow(
  eventStore: EventStore,
  source: StreamSource | StoreSource,
  options?: SubscribeOptions,
): Follower {
  const iterator = eventStore.subscribe(source, options)[Symbol.asyncIterator]();
  const batches: FactBatch[] = [];
  const facts: RecordedFact[] = [];
  const readOne = async (): Promise<boolean> => {
    const step = await iterator.next();
    if (step.done === true) return false;
    batches.push(step.value);
    facts.push(...step.value.facts);
    return true;
  };
  const follower: Follower = {
    batches,
    facts,
    async until(condition) {
      while (!condition(follower)) {
        if (!(await readOne())) throw new Error(`The subscription ended after ${facts.length} facts.`);
      }
    },
    caughtUp: () => follower.until(() => batches.at(-1)?.caughtUp === true),
    async end() {
      while (await readOne());
    },
    async leave() {
      await iterator.return?.();
    },
  };
  return follower;
}

/** Follows until as many facts as asked for have come, and leaves. */
export async function take(
  eventStore: EventStore,
  source: StreamSource | StoreSource,
  count: number,
  options?: SubscribeOptions,
): Promise<RecordedFact[]> {
  const follower = follow(eventStore, source, options);
  await follower.until(({ facts }) => facts.length >= count);
  await follower.leave();
  return [...follower.facts];
}
