import type { EventStore } from '@perdure/plugin-api';

/** A store whose appends wait, as those of a process that is stopped, until it goes on. */
export class HangingStore implements EventStore {
  readonly name: string;
  readonly capabilities: EventStore['capabilities'];
  readonly limits: EventStore['limits'];
  private waiting: (() => void)[] | undefined;

  constructor(private readonly store: EventStore) {
    this.name = store.name;
    this.capabilities = store.capabilities;
    this.limits = store.limits;
  }

  hang(): void {
    this.waiting = [];
  }

  goOn(): void {
    const { waiting = [] } = this;
    this.waiting = undefined;
    for (const go of waiting) go();
  }

  append: EventStore['append'] = async (...args) => {
    const { waiting } = this;
    if (waiting !== undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    return this.store.append(...args);
  };
  read: EventStore['read'] = (...args) => this.store.read(...args);
  subscribe: EventStore['subscribe'] = (...args) => this.store.subscribe(...args);
  truncate: EventStore['truncate'] = (...args) => this.store.truncate(...args);
  close: EventStore['close'] = () => this.store.close();
}
