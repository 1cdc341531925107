import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../client/connection.js';
import { Window } from './window.js';

const place = (position: number) => ({ commit: BigInt(position), prepare: BigInt(position) });

function event(position: number, stream = 's', revision = position, bytes = 0): StoredEvent {
  const data = new Uint8Array(bytes);
  return { id: '', type: 'T', stream, revision, position: place(position), data, metadata: new Uint8Array() };
}

const revisions = (events: readonly StoredEvent[] | undefined) => events?.map(({ revision }) => revision);

describe('the window', () => {
  test('knows nothing before it has begun', () => {
    expect(new Window().after(place(1))).toBeUndefined();
    expect(new Window().ofStream('s', 0)).toBeUndefined();
  });

  test('gives what is behind a position, from the one on that it began with', () => {
    const window = new Window();
    window.begin(place(5));
    for (const position of [6, 9, 12]) window.add(event(position));
    expect(revisions(window.after(place(5)))).toEqual([6, 9, 12]);
    expect(revisions(window.after(place(9)))).toEqual([12]);
    expect(revisions(window.after(place(10)))).toEqual([12]);
    expect(revisions(window.after(place(12)))).toEqual([]);
    expect(window.after(place(4))).toBeUndefined();
    expect(window.after(undefined)).toBeUndefined();
  });

  test('gives the events of a stream only without a gap', () => {
    const window = new Window();
    window.begin(place(0));
    for (const [position, revision] of [
      [1, 4],
      [3, 5],
      [7, 6],
    ] as const) {
      window.add(event(position, 'a', revision));
      window.add(event(position + 1, 'b', 0));
    }
    expect(revisions(window.ofStream('a', 5))).toEqual([5, 6]);
    for (const missing of [3, 7]) expect(window.ofStream('a', missing)).toBeUndefined();
    expect(window.ofStream('c', 0)).toBeUndefined();
  });

  test.each([
    ['many', 5_000, 0],
    ['large', 40, 1024 * 1024],
  ])('forgets the oldest when there are %s', (_, count, bytes) => {
    const window = new Window();
    window.begin(place(0));
    for (let position = 1; position <= count; position += 1) window.add(event(position, 's', position, bytes));
    expect(window.after(place(0))).toBeUndefined();
    expect(window.ofStream('s', 1)).toBeUndefined();
    expect(revisions(window.after(place(count - 1)))).toEqual([count]);
    expect(revisions(window.ofStream('s', count))).toEqual([count]);
  });

  test('that begins anew has forgotten', () => {
    const window = new Window();
    window.begin(place(0));
    window.add(event(1));
    window.begin(undefined);
    expect(window.after(place(1))).toBeUndefined();
    expect(window.ofStream('s', 1)).toBeUndefined();
  });
});
