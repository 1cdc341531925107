import { setTimeout as delay } from 'node:timers/promises';
import { isPerdureError, reasonOf, type Logger } from '@perdure/plugin-api';
import { Relay, type RelayGround } from './pump/relay.js';

/** Milliseconds after which a relay that somebody must do something about looks whether it was done. */
const PAUSE_MS = 30_000;

/** A relay beside the sessions of a runtime. What it meets is told to the logger, and harms nobody else. */
export class AutoRelay {
  private readonly controller = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly ground: RelayGround,
    private readonly logger: Logger | undefined,
  ) {}

  start(): void {
    this.running ??= this.work();
  }

  async stop(): Promise<void> {
    this.controller.abort();
    await this.running;
  }

  private async work(): Promise<void> {
    const { signal } = this.controller;
    while (!signal.aborted) {
      try {
        await new Relay(this.ground).run(signal);
      } catch (error) {
        const code = isPerdureError(error) ? error.code : 'PERDURE_INTERNAL';
        this.logger?.log('error', 'The relay to Kafka has ended.', { code, reason: reasonOf(error) });
        await delay(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}
