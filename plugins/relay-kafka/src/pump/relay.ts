import { randomUUID } from 'node:crypto';
import { isPerdureError, type EventStore, type Logger } from '@perdure/plugin-api';
import type { RelayOptions } from '../options.js';
import { topicNames } from '../topics/topic-names.js';
import { RelayLease } from './lease.js';
import { Pump } from './pump.js';
import type { RelayState, RelayStatus } from './relay-status.js';

export interface RelayGround {
  readonly store: EventStore;
  readonly options: RelayOptions;
  /** The name of this process in the lease. */
  readonly node?: string;
  readonly logger?: Logger | undefined;
}

/**
 * A relay of a store to its topics. Any number may run: one has the right to relay, the others stand by and take over
 * when it lets go or dies.
 */
export class Relay {
  private readonly lease: RelayLease;
  private readonly target: string;
  private pump: Pump | undefined;
  private ended: Extract<RelayState, 'failed' | 'stopped'> | undefined;

  constructor(private readonly ground: RelayGround) {
    const { store, options, node = `relay-${randomUUID().slice(0, 8)}` } = ground;
    this.target = topicNames(options.topics.prefix).facts;
    this.lease = new RelayLease(store, { target: this.target, node, ttlMs: options.leaseMs });
  }

  /** What it does; behind its end, what it had come to. */
  status(): RelayStatus {
    const { epoch } = this.lease;
    if (this.pump !== undefined) {
      const status = this.pump.status();
      return { epoch, ...status, state: this.ended ?? status.state };
    }
    const none = { sent: 0, transactions: 0, deadLetters: 0, restarts: 0 };
    return { state: this.ended ?? 'standby', epoch: 0, position: undefined, caughtUp: false, lagMs: 0, ...none };
  }

  /** Relays until the signal aborts, and lets go. Throws what somebody must do something about first. */
  run(signal: AbortSignal): Promise<void> {
    return this.work(signal, false);
  }

  /** Relays until everything is on the topics that was stored when it looked last. */
  catchUp(signal: AbortSignal): Promise<void> {
    return this.work(signal, true);
  }

  private async work(signal: AbortSignal, untilCaughtUp: boolean): Promise<void> {
    const { store, options, logger } = this.ground;
    this.ended = undefined;
    this.pump = undefined;
    try {
      for (;;) {
        await this.lease.take(signal);
        const { target } = this;
        logger?.log('info', 'The relay has the right to relay.', { target, epoch: this.lease.epoch });
        this.pump = new Pump({ store, options, lease: this.lease, logger, untilCaughtUp });
        try {
          await this.pump.run(AbortSignal.any([signal, this.lease.lostSignal]));
          return;
        } catch (error) {
          if (signal.aborted || !isPerdureError(error, 'PERDURE_RELAY_FENCED')) throw error;
          this.pump = undefined;
          logger?.log('warn', 'Another relay took over.', { target: this.target });
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      this.ended = 'failed';
      throw error;
    } finally {
      this.ended ??= 'stopped';
      await this.lease.release();
    }
  }
}
