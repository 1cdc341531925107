import { setTimeout as delay } from 'node:timers/promises';
import type { Connection, Watched } from '../client/connection.js';
import { Window } from './window.js';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/** Waits for news of one stream, or of all. What came since it was made, or since `next` was called last, counts. */
export interface Listener {
  /** Resolves at the next news, at once when there are some, or when the listener is left. */
  next(): Promise<void>;
  leave(): void;
}

/** One subscription to the whole store for all followers of this process; it tells them when to read. */
export class Watch {
  readonly window = new Window();
  private readonly connection: Connection;
  private readonly timeoutMs: number;
  /** Who waits for what, by stream: news of one must not cost more because others are followed. */
  private readonly ears = new Map<string | undefined, Set<() => void>>();
  private readonly closing = new AbortController();
  /** Streams with news of which nobody was told yet. */
  private readonly news = new Set<string>();
  private live: Promise<void> | undefined;

  /** @param timeoutMs after which a subscription is given up that is not live */
  constructor(connection: Connection, timeoutMs: number) {
    this.connection = connection;
    this.timeoutMs = timeoutMs;
  }

  /** Resolves when everything that is appended from then on will be heard. */
  async listen(stream: string | undefined, signal: AbortSignal): Promise<Listener> {
    let hasNews = false;
    let wake = (): void => undefined;
    const hear = (): void => {
      hasNews = true;
      wake();
    };
    this.enter(stream, hear);
    signal.addEventListener('abort', hear);
    const leave = (): void => {
      this.forget(stream, hear);
      signal.removeEventListener('abort', hear);
      hear();
    };
    const next = async (): Promise<void> => {
      if (!hasNews) await new Promise<void>((resolve) => (wake = resolve));
      hasNews = false;
    };
    this.live ??= this.start();
    await Promise.race([this.live, aborted(signal)]);
    return { next, leave };
  }

  close(): void {
    this.closing.abort();
  }

  /** Resolves when the subscription is live for the first time. */
  private start(): Promise<void> {
    return new Promise((resolve) => void this.run(resolve));
  }

  private async run(onLive: () => void): Promise<void> {
    const { signal } = this.closing;
    let wait = FIRST_WAIT_MS;
    while (!signal.aborted) {
      // The server may never answer a subscription, and the client would wait for ever.
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), this.timeoutMs);
      try {
        for await (const watched of this.connection.watch(AbortSignal.any([signal, late.signal]))) {
          clearTimeout(timer);
          wait = FIRST_WAIT_MS;
          this.take(watched);
          if (watched.kind === 'live') onLive();
        }
      } catch {
        // A subscription that ended is dead: another one begins, for as long as the store is open.
        await delay(wait, undefined, { signal }).catch(() => undefined);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      } finally {
        clearTimeout(timer);
      }
    }
    onLive();
  }

  private take(watched: Watched): void {
    if (watched.kind === 'appended') {
      this.window.add(watched.event);
      this.tellSoon(watched.event.stream);
    } else {
      // What was appended while nobody listened is found by reading: everybody does, once.
      this.window.begin(watched.position);
      this.tellAll();
    }
  }

  /** All that comes in one turn of the event loop is one piece of news: who follows the whole store looks once. */
  private tellSoon(stream: string): void {
    if (this.news.size === 0) setImmediate(() => this.tell());
    this.news.add(stream);
  }

  private tell(): void {
    const streams: readonly (string | undefined)[] = [...this.news, undefined];
    this.news.clear();
    for (const stream of streams) for (const hear of this.ears.get(stream) ?? []) hear();
  }

  private tellAll(): void {
    for (const ears of this.ears.values()) for (const hear of ears) hear();
  }

  private enter(stream: string | undefined, hear: () => void): void {
    const ears = this.ears.get(stream);
    if (ears === undefined) this.ears.set(stream, new Set([hear]));
    else ears.add(hear);
  }

  private forget(stream: string | undefined, hear: () => void): void {
    const ears = this.ears.get(stream);
    ears?.delete(hear);
    if (ears?.size === 0) this.ears.delete(stream);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
