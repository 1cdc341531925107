import { describe, expect, test } from 'vitest';
import { Bell } from '../streams/bell.js';
import type { StoredEvent } from '../streams/stored-event.js';
import type { EventFilter } from './event-filter.js';
import { follow, type Followed } from './follow.js';

/** A log in memory, and what its follower was given. */
class Followership {
  private readonly events: StoredEvent[] = [];
  private readonly published = new Bell();
  private readonly leaving = new AbortController();
  private readonly given: AsyncGenerator<Followed>;
  private at = 0;

  constructor(past: number, checkpointEvery = Infinity, filter?: EventFilter) {
    this.publish(past);
    const feed = {
      next: () => this.events[this.at++] ?? ((this.at = this.events.length), undefined),
      backlog: () => this.events.length - this.at,
      isOver: () => false,
    };
    const options = { checkpointEvery, begin: 0, ...(filter !== undefined && { filter }) };
    this.given = follow(feed, this.published, options, this.leaving.signal);
  }

  publish(count: number): void {
    const none = new Uint8Array();
    for (let n = 0; n < count; n += 1) {
      const revision = this.events.length;
      const type = revision % 10 === 0 ? 'Tenth' : 'Other';
      const event = { id: `${revision}`, stream: 's', revision, position: revision + 1, type, created: 0 };
      this.events.push({ ...event, isJson: false, data: none, metadata: none });
    }
    this.published.ring();
  }

  /** The next notes: revisions of events, positions of checkpoints, and that it has caught up. */
  async take(count: number): Promise<readonly string[]> {
    const notes: string[] = [];
    while (notes.length < count) {
      const { value } = (await this.given.next()) as { value: Followed };
      if (value.kind === 'event') notes.push(`event ${value.event.revision}`);
      else notes.push(value.kind === 'checkpoint' ? `checkpoint ${value.position}` : value.kind);
    }
    return notes;
  }

  async leave(): Promise<boolean> {
    const next = this.given.next();
    this.leaving.abort();
    return (await next).done === true;
  }
}

describe('a follower', () => {
  test('is given the past, is told that it has caught up, and is given what comes', async () => {
    const follower = new Followership(2);
    expect(await follower.take(3)).toEqual(['event 0', 'event 1', 'caught-up']);
    const next = follower.take(1);
    follower.publish(1);
    expect(await next).toEqual(['event 2']);
    expect(await follower.leave()).toBe(true);
  });

  test('that falls behind by more than the live buffer catches up again, and is told so again', async () => {
    const follower = new Followership(0);
    expect(await follower.take(1)).toEqual(['caught-up']);
    const next = follower.take(34);
    follower.publish(33);
    expect(await next).toEqual([...Array.from({ length: 33 }, (_, n) => `event ${n}`), 'caught-up']);
  });

  test('that is a little behind is not told', async () => {
    const follower = new Followership(0);
    await follower.take(1);
    const next = follower.take(32);
    follower.publish(32);
    expect((await next).at(-1)).toBe('event 31');
    const live = follower.take(1);
    follower.publish(1);
    expect(await live).toEqual(['event 32']);
  });

  test('with a filter is told how far it was looked: in the past, going live, and when it falls behind', async () => {
    const follower = new Followership(25, 20, { on: 'type', prefixes: ['Tenth'] });
    expect(await follower.take(6)).toEqual([
      'event 0',
      'event 10',
      'checkpoint 20',
      'event 20',
      'checkpoint 25',
      'caught-up',
    ]);
    const next = follower.take(8);
    follower.publish(40);
    expect(await next).toEqual([
      'checkpoint 25',
      'event 30',
      'checkpoint 40',
      'event 40',
      'event 50',
      'checkpoint 60',
      'event 60',
      'checkpoint 65',
    ]);
  });
});
