import type { Logger } from '@perdure/plugin-api';
import type { Announcement } from './announcement.js';
import type { Connections, Query, Statement } from './connections.js';
import { Listener } from './listener.js';
import type { Names } from './names.js';
import { parsePosition } from './position.js';
import { readStorePage } from './store-page.js';
import type { Subscription } from './subscription.js';

/** More heads than that are not announced one by one: everybody is woken and reads for itself. */
const MOST_HEADS = 1_000;

/** Tells subscriptions what was stored: by this node at once, by others when it is heard or found. */
export class Announcer {
  private readonly ofStream = new Map<string, Set<Subscription>>();
  private readonly ofStore = new Set<Subscription>();
  private readonly listener: Listener;
  private readonly schema: string;
  private readonly heads: Statement;
  private readonly end: Statement;
  /** Everything up to here was announced; `undefined` until it was looked for the first time. */
  private seen: number | undefined;

  constructor(
    connections: Connections,
    { schema, channel }: Names,
    options: { readonly pollMs: number; readonly logger: Logger | undefined },
  ) {
    this.schema = schema;
    this.heads = {
      name: 'heads',
      text: `select f.position, s.name, f.revision from ${schema}.fact f
        join ${schema}.stream s on s.id = f.stream where f.position > $1::bigint order by f.position limit $2::bigint`,
    };
    this.end = { name: 'end', text: `select coalesce(max(f.position), 0) from ${schema}.fact f` };
    this.listener = new Listener(connections, channel, options, {
      look: (query) => this.lookForOthers(query),
      isNews: (position) => this.seen !== undefined && position > this.seen,
      onDeaf: () => this.wakeAll(),
    });
  }

  /** Adds a subscription before its first page is read, so that it misses nothing. */
  add(subscription: Subscription): void {
    this.listener.start();
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
    if (stream === undefined) return;
    const followers = this.ofStream.get(stream);
    followers?.delete(subscription);
    if (followers?.size === 0) this.ofStream.delete(stream);
  }

  /** Announces what this node stored. What others stored before it is looked for first. */
  publish(announcement: Announcement): void {
    if (this.seen !== undefined && announcement.position <= this.seen) return;
    if (announcement.behind !== this.seen) {
      // Where nothing can be looked for, each reads for itself.
      if (!this.listener.look()) this.wakeAll();
      return;
    }
    this.seen = announcement.position;
    this.tell(announcement);
  }

  /** Ends every subscription and hears nothing any more. */
  async close(): Promise<void> {
    for (const subscription of this.all()) subscription.end();
    await this.listener.stop();
  }

  private async lookForOthers(query: Query): Promise<void> {
    if (this.seen === undefined) {
      const [row] = await query(this.end, []);
      this.seen = Number(row?.[0] ?? 0);
      // Subscriptions that began before may have read an earlier state.
      this.wakeAll();
      return;
    }
    // Followers of the store want most of it: it is read once for all of them. Others want little.
    if (this.ofStore.size > 0 ? await this.tellFacts(query, this.seen) : await this.tellHeads(query, this.seen)) return;
    this.seen = undefined;
    await this.lookForOthers(query);
  }

  /** Returns whether that was all. */
  private async tellFacts(query: Query, behind: number): Promise<boolean> {
    const { facts, caughtUp } = await readStorePage(query, this.schema, behind, {});
    if (!caughtUp) return false;
    for (const fact of facts) {
      const { stream, revision } = fact;
      this.tellUnseen({
        stream,
        first: revision,
        last: revision,
        position: parsePosition(fact.position) ?? 0,
        facts: [fact],
      });
    }
    return true;
  }

  /** Returns whether that was all. */
  private async tellHeads(query: Query, behind: number): Promise<boolean> {
    const rows = await query(this.heads, [behind, MOST_HEADS]);
    if (rows.length === MOST_HEADS) return false;
    for (const [position, stream, revision] of rows) {
      this.tellUnseen({
        stream: String(stream),
        first: Number(revision),
        last: Number(revision),
        position: Number(position),
      });
    }
    return true;
  }

  /** This node may have announced it itself meanwhile. */
  private tellUnseen(found: Omit<Announcement, 'behind'>): void {
    const behind = this.seen ?? 0;
    if (found.position <= behind) return;
    this.seen = found.position;
    this.tell({ ...found, behind });
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
}
