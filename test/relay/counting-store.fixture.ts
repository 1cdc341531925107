import type { EventStore, FactBatch } from '@perdure/plugin-api';

/** A store that counts the facts that it hands to followers. */
export class CountingStore implements EventStore {
  readonly name: string;
  readonly capabilities: EventStore['capabilities'];
  readonly limits: EventStore['limits'];
  given = 0;

  constructor(private readonly store: EventStore) {
    this.name = store.name;
    this.capabilities = store.capabilities;
    this.limits = store.limits;
  }

  append: EventStore['append'] = (...args) => this.store.append(...args);
  read: EventStore['read'] = (...args) => this.store.read(...args);
  subscribe: EventStore['subscribe'] = (...args) => this.counted(this.store.subscribe(...args));
  truncate: EventStore['truncate'] = (...args) => this.store.truncate(...args);
  close: EventStore['close'] = () => this.store.close();

  private async *counted(batches: AsyncIterable<FactBatch>): AsyncGenerator<FactBatch> {
    for await (const batch of batches) {
      this.given += batch.facts.length;
      yield batch;
    }
  }
}
