import type { Announcement } from './announcement.js';
import { openBatch } from './batch-row.js';
import type { Database } from './database.js';
import type { FactTables } from './fact-tables.js';
import type { Position } from './position.js';
import type { StoreTables } from './store-page.js';
import type { Subscription } from './subscription.js';

/** How often another process is looked for, while there is somebody to tell. Milliseconds. */
const POLL_EVERY = 25;

/** More rows than that are not announced one by one: everybody is woken and reads for itself. */
const MOST_ROWS = 1_000;

/** Tells subscriptions what was stored: by this process at once, by others within a moment. */
export class Announcer {
  private readonly database: Database;
  private readonly tables: StoreTables;
  private readonly ofStream = new Map<string, Set<Subscription>>();
  private readonly ofStore = new Set<Subscription>();
  private timer: NodeJS.Timeout | undefined;
  private version = 0;
  /** What was announced last. Kept up only while there are subscriptions. */
  private seen: { fact: number; weak: number } = { fact: 0, weak: 0 };

  constructor(database: Database, tables: StoreTables) {
    this.database = database;
    this.tables = tables;
  }

  /** Adds a subscription before its first page is read, so that it misses nothing. */
  add(subscription: Subscription): void {
    if (this.timer === undefined) {
      this.version = this.database.version();
      this.seen = this.end();
      this.timer = setInterval(() => this.lookForOthers(), POLL_EVERY).unref();
    }
    const { stream } = subscription.pager;
    if (stream === undefined) {
      this.ofStore.add(subscription);
      return;
    }
    const followers = this.ofStream.get(stream) ?? new Set();
    this.ofStream.set(stream, followers.add(subscription));
  }

  remove(subscription: Subscription): void {
    const { stream } = subscription.pager;
    this.ofStore.delete(subscription);
    if (stream !== undefined) {
      const followers = this.ofStream.get(stream);
      followers?.delete(subscription);
      if (followers?.size === 0) this.ofStream.delete(stream);
    }
    if (this.ofStore.size > 0 || this.ofStream.size > 0) return;
    this.stopPolling();
  }

  /** Announces what this process stored. */
  publish(announcement: Announcement): void {
    if (this.timer === undefined) return;
    const { durability, position, facts } = announcement;
    const kind = durability === 'weak' ? 'weak' : 'fact';
    if (this.seen[kind] !== position[kind] - facts.length) {
      // Another process was between.
      this.announceUnseen();
      return;
    }
    this.seen[kind] = position[kind];
    this.tell(announcement);
  }

  /** Ends every subscription and looks for nothing any more. */
  close(): void {
    for (const subscription of this.all()) subscription.end();
    this.stopPolling();
  }

  private lookForOthers(): void {
    this.orWakeAll(() => {
      const version = this.database.version();
      if (version === this.version) return;
      this.version = version;
      this.announceUnseen();
    });
  }

  private stopPolling(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Announces everything that was stored since the last announcement, by whomever. */
  private announceUnseen(): void {
    this.orWakeAll(() => {
      const found = this.database.read(() => {
        const { fact, weak } = this.seen;
        this.seen = this.end();
        return [
          ...this.unseen(this.tables.facts, { fact, weak: 0 }),
          ...this.unseen(this.tables.weak, { fact: 0, weak }),
        ];
      });
      if (found.length >= MOST_ROWS) this.wakeAll();
      else for (const announcement of found) this.tell(announcement);
    });
  }

  /** What cannot be read is reported to each follower by its own read. */
  private orWakeAll(work: () => void): void {
    try {
      work();
    } catch {
      this.wakeAll();
    }
  }

  private unseen(tables: FactTables, after: Position): Announcement[] {
    return tables.batches.headsOf(after, MOST_ROWS).map((row) => {
      const { fact, weak, stream, first, last, shape } = openBatch(row, undefined);
      const name = tables.streams.nameOf(stream);
      const { facts } = shape;
      const position = { fact, weak };
      return { durability: tables.durability, stream: name, first, last, position, facts };
    });
  }

  private tell(announcement: Announcement): void {
    for (const subscription of this.ofStream.get(announcement.stream) ?? []) subscription.hear(announcement);
    for (const subscription of this.ofStore) subscription.hear(announcement);
  }

  private wakeAll(): void {
    for (const subscription of this.all()) subscription.wake();
  }

  private *all(): Iterable<Subscription> {
    yield* this.ofStore;
    for (const followers of this.ofStream.values()) yield* followers;
  }

  private end(): { fact: number; weak: number } {
    return { fact: this.tables.end.fact(), weak: this.tables.end.weak() };
  }
}
