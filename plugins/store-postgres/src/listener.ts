import type { Logger } from '@perdure/plugin-api';
import type pg from 'pg';
import { backoff, waitOr } from './backoff.js';
import type { Connections, Query } from './connections.js';

/** What a listener is asked and told. */
export interface ListenerWork {
  /** Looks for what was stored, on the listener's connection: when it is there, at each poll and notification. */
  look(query: Query): Promise<void>;
  /** Whether a notification, with the last position that was stored, tells something. */
  isNews(position: number): boolean;
  /** Nothing can be heard at the moment. Called again with each try that failed. */
  onDeaf(): void;
}

/**
 * A connection that hears of commits. Notifications are a hint only: it also looks by itself again and again, so that a
 * lost one costs a moment; and when the connection is lost, or does not answer, it makes another one.
 */
export class Listener {
  private readonly connections: Connections;
  private readonly channel: string;
  private readonly pollMs: number;
  private readonly logger: Logger | undefined;
  private readonly work: ListenerWork;
  private readonly stopped: Promise<void>;
  private resolveStopped: () => void = () => undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;
  private isListening = false;
  private hasNews = false;
  private wakeUp: () => void = () => undefined;

  constructor(
    connections: Connections,
    channel: string,
    options: { readonly pollMs: number; readonly logger: Logger | undefined },
    work: ListenerWork,
  ) {
    this.connections = connections;
    this.channel = channel;
    this.pollMs = options.pollMs;
    this.logger = options.logger;
    this.work = work;
    this.stopped = new Promise((resolve) => {
      this.resolveStopped = resolve;
    });
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Looks at once; `false` when it cannot. */
  look(): boolean {
    this.hasNews = true;
    this.wakeUp();
    return this.isListening;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.resolveStopped();
    this.wakeUp();
    await this.running;
  }

  /** Never throws: what cannot be done is tried again. */
  private async run(): Promise<void> {
    let failures = 0;
    while (!this.isStopped) {
      let client: pg.Client | undefined;
      try {
        client = await this.connections.dedicated();
        await this.listen(client, () => {
          if (failures > 0) this.logger?.log('info', 'PostgreSQL is heard again', { failures });
          failures = 0;
        });
      } catch (error) {
        failures += 1;
        if (failures === 1 && !this.isStopped) {
          this.logger?.log('warn', 'PostgreSQL is not heard', { reason: error instanceof Error ? error.message : '' });
        }
      }
      this.isListening = false;
      void client?.end().catch(() => undefined);
      if (this.isStopped) return;
      this.work.onDeaf();
      await waitOr(backoff(failures), this.stopped);
    }
  }

  /** Returns when it was stopped; throws when the connection is of no use any more. */
  private async listen(client: pg.Client, onHeard: () => void): Promise<void> {
    let lost: Error | undefined;
    client.on('error', (error: Error) => {
      lost = error;
      this.wakeUp();
    });
    client.on('end', () => {
      lost ??= new Error('the connection ended');
      this.wakeUp();
    });
    client.on('notification', ({ payload }) => {
      if (this.work.isNews(Number(payload))) this.look();
    });
    const query: Query = (statement, values) => this.connections.timed(client, statement, values);
    await query({ name: '', text: `listen ${this.channel}` }, []);
    while (!this.isStopped) {
      this.hasNews = false;
      await this.work.look(query);
      this.isListening = true;
      onHeard();
      if (!this.hasNews && !this.isStopped && lost === undefined) await this.pause();
      if (lost !== undefined) throw lost;
    }
  }

  private async pause(): Promise<void> {
    await waitOr(
      this.pollMs,
      new Promise<void>((resolve) => {
        this.wakeUp = resolve;
      }),
    );
  }
}
