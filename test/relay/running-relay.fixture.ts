import { randomUUID } from 'node:crypto';
import type { EventStore } from '@perdure/plugin-api';
import { Relay, relayOptions, topicNames, type RelaySettings, type TopicNames } from '@perdure/relay-kafka';
import { until } from './until.fixture.js';

/** A relay of a test, on topics of its own unless it is told others. */
export class RunningRelay {
  readonly relay: Relay;
  readonly names: TopicNames;
  readonly ended: Promise<unknown>;
  private readonly controller = new AbortController();

  constructor(store: EventStore, { topics, ...settings }: RelaySettings) {
    const prefix = topics?.prefix ?? `test-${randomUUID().slice(0, 8)}`;
    const options = relayOptions.parse({ leaseMs: 2_000, ...settings, topics: { partitions: 3, ...topics, prefix } });
    this.names = topicNames(prefix);
    this.relay = new Relay({ store, options });
    // What it ends with, as a value: nobody need wait for it.
    this.ended = this.relay.run(this.controller.signal).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  get prefix(): string {
    return this.names.facts.replace(/\.session-events\.v1$/, '');
  }

  async caughtUp(ms?: number): Promise<void> {
    const isCaughtUp = (): boolean => this.relay.status().caughtUp || this.relay.status().state === 'failed';
    await until(isCaughtUp, () => this.relay.status(), ms);
    if (this.relay.status().state === 'failed') throw await this.ended;
  }

  async stop(): Promise<unknown> {
    this.controller.abort();
    return this.ended;
  }
}
