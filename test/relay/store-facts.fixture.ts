import type { RecordedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';

/** All facts that a relay is to bring to the topic, by stream and in order. */
export async function storeFacts(store: EventStore): Promise<ReadonlyMap<string, readonly RecordedFact[]>> {
  const all = new Map<string, RecordedFact[]>();
  for await (const { facts, caughtUp } of store.subscribe({ all: true }, { categories: ['session', 'budget'] })) {
    for (const fact of facts) {
      const known = all.get(fact.stream);
      if (known === undefined) all.set(fact.stream, [fact]);
      else known.push(fact);
    }
    if (caughtUp) break;
  }
  return all;
}
