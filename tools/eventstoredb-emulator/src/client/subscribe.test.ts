import { eventTypeFilter, jsonEvent, StreamDeletedError, streamNameFilter, type Position } from '@eventstore/db-client';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { counted, countedTo, numbersOf, readWhole, revisionsOf } from './events.fixture.js';
import { Follower } from './follower.fixture.js';
import { newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();

async function append(stream: string, count: number): Promise<void> {
  await server.client.appendToStream(stream, countedTo(count));
}

describe('a subscription to a stream', () => {
  test('gives a confirmation, the past, that it has caught up, and what comes', async () => {
    const stream = newStream();
    await append(stream, 2);
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.caughtUp();
    await append(stream, 1);
    await follower.received(3);
    expect(follower.notes.map((noted) => (typeof noted === 'string' ? noted : noted.event?.revision))).toEqual([
      'confirmation',
      0n,
      1n,
      'caughtUp',
      2n,
    ]);
    await follower.end();
  });

  test('begins behind the revision that it names', async () => {
    const stream = newStream();
    await append(stream, 4);
    const follower = new Follower(server.client.subscribeToStream(stream, { fromRevision: 1n }));
    await follower.caughtUp();
    expect(revisionsOf(follower.events)).toEqual([2n, 3n]);
    await follower.end();
  });

  test('from the end gives only what comes', async () => {
    const stream = newStream();
    await append(stream, 2);
    const follower = new Follower(server.client.subscribeToStream(stream, { fromRevision: 'end' }));
    await follower.caughtUp();
    await append(stream, 1);
    await follower.received(1);
    expect(revisionsOf(follower.events)).toEqual([2n]);
    await follower.end();
  });

  test('waits for a stream that is not there yet', async () => {
    const stream = newStream();
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.caughtUp();
    await append(stream, 1);
    await follower.received(1);
    await follower.end();
  });

  test('ends when the stream is tombstoned', async () => {
    const stream = newStream();
    await append(stream, 1);
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.caughtUp();
    await server.client.tombstoneStream(stream);
    await follower.until(({ error }) => error !== undefined);
    expect(follower.error).toBeInstanceOf(StreamDeletedError);
  });

  test('loses and repeats nothing while others write', async () => {
    const stream = newStream();
    const writing = (async () => {
      for (let round = 0; round < 12; round += 1) await append(stream, 20);
    })();
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.received(240);
    await writing;
    expect(revisionsOf(follower.events)).toEqual(Array.from({ length: 240 }, (_, revision) => BigInt(revision)));
    await follower.end();
  });
});

describe('a subscription to $all', () => {
  test('with prefixes of names gives their streams only, in the order of the log', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await append(`a-${one}-x`, 1);
    await append(`b-${one}`, 1);
    await append(`a-${other}-x`, 1);
    const filter = streamNameFilter({ prefixes: [`a-${one}`, `a-${other}`] });
    const follower = new Follower(server.client.subscribeToAll({ filter }));
    await follower.caughtUp();
    await append(`b-${one}`, 1);
    await append(`a-${one}-y`, 1);
    await follower.received(3);
    expect(follower.events.map(({ event }) => event?.streamId)).toEqual([`a-${one}-x`, `a-${other}-x`, `a-${one}-y`]);
    await follower.end();
  });

  test('with a pattern of names, prefixes of types, or a pattern of types gives what fits', async () => {
    const stream = newStream('filtered');
    const type = `Type${randomUUID()}`;
    const events = [`${type}A`, `${type}B`, `X${type}`].map((name) => jsonEvent({ type: name, data: {} }));
    await server.client.appendToStream(stream, events);
    for (const [filter, expected] of [
      [streamNameFilter({ regex: `^${stream}$` }), [0n, 1n, 2n]],
      [eventTypeFilter({ prefixes: [type] }), [0n, 1n]],
      [eventTypeFilter({ regex: `${type}(A|$)` }), [0n, 2n]],
    ] as const) {
      const follower = new Follower(server.client.subscribeToAll({ filter }));
      await follower.caughtUp();
      expect(revisionsOf(follower.events)).toEqual(expected);
      await follower.end();
    }
  });

  test('begins behind the position that it names', async () => {
    const stream = newStream();
    await append(stream, 3);
    const [first] = await readWhole(server.client, stream);
    const fromPosition = first?.event?.position ?? 'start';
    const filter = streamNameFilter({ prefixes: [stream] });
    const follower = new Follower(server.client.subscribeToAll({ fromPosition, filter }));
    await follower.caughtUp();
    expect(revisionsOf(follower.events)).toEqual([1n, 2n]);
    await follower.end();
  });

  test('without a filter begins behind a position too, and goes on live', async () => {
    const stream = newStream();
    await append(stream, 2);
    const [first] = await readWhole(server.client, stream);
    const fromPosition = first?.event?.position ?? 'start';
    const follower = new Follower(server.client.subscribeToAll({ fromPosition }));
    await follower.caughtUp();
    await append(stream, 1);
    const ofStream = (): unknown[] => revisionsOf(follower.events.filter(({ event }) => event?.streamId === stream));
    await follower.until(() => ofStream().length === 2);
    expect(ofStream()).toEqual([1n, 2n]);
    await follower.end();
  });

  test('with a filter is told by checkpoints how far it has been looked', async () => {
    const [wanted, other] = [newStream('wanted'), newStream('other')];
    await append(wanted, 1);
    await append(other, 100);
    const [, ...rest] = await readWhole(server.client, other);
    const fromPosition = rest[0]?.event?.position ?? 'start';
    const checkpoints: Position[] = [];
    const filter = streamNameFilter({
      prefixes: [wanted],
      maxSearchWindow: 10,
      checkpointInterval: 2,
      checkpointReached: (_, position) => {
        checkpoints.push(position);
        follower.note('checkpoint');
      },
    });
    const follower = new Follower(server.client.subscribeToAll({ fromPosition, filter }));
    await follower.caughtUp();
    // 98 events behind the first two, a checkpoint after every 20 of them, and one when it goes live.
    expect(checkpoints.length).toBeGreaterThanOrEqual(5);
    const last = rest.at(-1)?.event?.position?.commit;
    expect(checkpoints.at(-1)?.commit).toBeGreaterThanOrEqual(last ?? 0n);
    expect(follower.notes.lastIndexOf('checkpoint')).toBeLessThan(follower.notes.indexOf('caughtUp'));
    const again = new Follower(server.client.subscribeToAll({ fromPosition: checkpoints.at(-1) ?? 'start', filter }));
    await again.caughtUp();
    expect(again.events).toEqual([]);
    await Promise.all([follower.end(), again.end()]);
  });

  test('shows events that their stream hides', async () => {
    const stream = newStream();
    await append(stream, 3);
    await server.client.setStreamMetadata(stream, { truncateBefore: 2 });
    const filter = streamNameFilter({ prefixes: [stream] });
    const follower = new Follower(server.client.subscribeToAll({ filter }));
    await follower.caughtUp();
    expect(numbersOf(follower.events)).toEqual([0, 1, 2]);
    await follower.end();
  });

  test('shows a tombstone', async () => {
    const stream = newStream();
    await append(stream, 1);
    await server.client.tombstoneStream(stream);
    const filter = streamNameFilter({ prefixes: [stream] });
    const follower = new Follower(server.client.subscribeToAll({ filter }));
    await follower.caughtUp();
    expect(follower.events.map(({ event }) => event?.type)).toEqual(['Counted', '$streamDeleted']);
    await follower.end();
  });
});

test('a slow reader gets all of it', async () => {
  const stream = newStream();
  for (let n = 0; n < 4; n += 1) await server.client.appendToStream(stream, counted(n));
  const seen: unknown[] = [];
  for await (const { event } of server.client.subscribeToStream(stream)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.push(event?.revision);
    if (seen.length === 4) break;
  }
  expect(seen).toEqual([0n, 1n, 2n, 3n]);
});
