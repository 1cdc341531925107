import { describe, expect, test } from 'vitest';
import { counted, countedTo, numbersOf, readWhole } from './events.fixture.js';
import { Follower } from './follower.fixture.js';
import { newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();

async function streamOf(count: number): Promise<string> {
  const stream = newStream();
  await server.client.appendToStream(stream, countedTo(count), { expectedRevision: 'no_stream' });
  return stream;
}

describe('metadata of a stream', () => {
  test('are an event of a stream beside it', async () => {
    const stream = await streamOf(1);
    const metadata = { maxCount: 5, cacheControl: 7, owner: 'me' };
    await server.client.setStreamMetadata(stream, metadata, { expectedRevision: 'no_stream' });
    expect(await server.client.getStreamMetadata(stream)).toMatchObject({ streamName: stream, metadata });
    const [event] = await readWhole(server.client, `$$${stream}`);
    expect(event?.event).toMatchObject({ type: '$metadata', data: { $maxCount: 5, $cacheControl: 7, owner: 'me' } });
  });

  test('that were never set are none', async () => {
    const found = await server.client.getStreamMetadata(newStream());
    expect(found.metadata).toBeUndefined();
  });

  test('keep the last events only with $maxCount', async () => {
    const stream = await streamOf(5);
    await server.client.setStreamMetadata(stream, { maxCount: 2 });
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([3, 4]);
    const backwards = { direction: 'backwards', fromRevision: 'end' } as const;
    expect(numbersOf(await readWhole(server.client, stream, backwards))).toEqual([4, 3]);
    await server.client.appendToStream(stream, counted(5), { expectedRevision: 4n });
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([4, 5]);
  });

  test('hide events before $tb, and never move the head', async () => {
    const stream = await streamOf(4);
    await server.client.setStreamMetadata(stream, { truncateBefore: 3 });
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([3]);
    expect(numbersOf(await readWhole(server.client, stream, { fromRevision: 1n }))).toEqual([3]);
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.caughtUp();
    expect(numbersOf(follower.events)).toEqual([3]);
    await follower.end();
    const append = server.client.appendToStream(stream, counted(9), { expectedRevision: 'no_stream' });
    await expect(append).rejects.toMatchObject({ actualVersion: 3n });
    const next = await server.client.appendToStream(stream, counted(4), { expectedRevision: 3n });
    expect(next.nextExpectedRevision).toBe(4n);
  });

  test('may hide all events of a stream that is still there', async () => {
    const stream = await streamOf(2);
    await server.client.setStreamMetadata(stream, { truncateBefore: 2 });
    expect(await readWhole(server.client, stream)).toEqual([]);
    const next = await server.client.appendToStream(stream, counted(2), { expectedRevision: 1n });
    expect(next.nextExpectedRevision).toBe(2n);
  });

  test('recognise a repeat of events that they hide', async () => {
    const stream = newStream();
    const batch = countedTo(2);
    await server.client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    await server.client.setStreamMetadata(stream, { truncateBefore: 2 });
    const repeat = await server.client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    expect(repeat.nextExpectedRevision).toBe(1n);
  });

  test('hide events that are older than $maxAge', async () => {
    const stream = await streamOf(1);
    await server.client.setStreamMetadata(stream, { maxAge: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await server.client.appendToStream(stream, counted(1), { expectedRevision: 0n });
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([1]);
  });

  test('have revisions that are checked', async () => {
    const stream = newStream();
    await server.client.setStreamMetadata(stream, { maxCount: 1 }, { expectedRevision: 'no_stream' });
    const second = server.client.setStreamMetadata(stream, { maxCount: 2 }, { expectedRevision: 'no_stream' });
    await expect(second).rejects.toMatchObject({ streamName: `$$${stream}`, actualVersion: 0n });
  });
});
