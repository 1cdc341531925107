import { setTimeout as delay } from 'node:timers/promises';
import { nodeStream } from '@perdure/events';
import { reasonOf } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import type { CheckedDrain } from './drain-node.js';
import { drainAsked } from './drain-request.js';

/** Milliseconds before the store is followed again when that broke off. */
const RETRY_MS = 1_000;

/** Hears what operators ask this node for, through its stream, until the first request to drain. */
export class DrainListener {
  private readonly ending = new AbortController();
  /** What was asked for; never resolves when nothing is. */
  readonly asked: Promise<CheckedDrain>;
  private readonly following: Promise<void>;
  private tell: (drain: CheckedDrain) => void = () => undefined;

  constructor(private readonly services: Pick<HostServices, 'store' | 'lease' | 'logger'>) {
    this.asked = new Promise((resolve) => (this.tell = resolve));
    this.following = this.follow();
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.following;
  }

  private async follow(): Promise<void> {
    const { signal } = this.ending;
    const { store, lease, logger } = this.services;
    while (!signal.aborted) {
      try {
        // All that is there is read: a request names the process that it is for.
        for await (const { facts } of store.subscribe({ stream: nodeStream(lease.node) }, { signal })) {
          for (const fact of facts) {
            const drain = drainAsked(fact, lease.incarnation);
            if (drain === undefined) continue;
            this.tell(drain);
            return;
          }
        }
      } catch (error) {
        if (!signal.aborted) {
          logger.log('warn', 'What is asked of this node is not heard at the moment.', { reason: reasonOf(error) });
        }
      }
      if (!signal.aborted) await delay(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
}
