import { StreamDeletedError, StreamNotFoundError, WrongExpectedVersionError } from '@eventstore/db-client';
import { describe, expect, test } from 'vitest';
import { counted, countedTo, numbersOf, readWhole } from './events.fixture.js';
import { newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();

async function deletedStream(count: number): Promise<string> {
  const stream = newStream();
  await server.client.appendToStream(stream, countedTo(count), { expectedRevision: 'no_stream' });
  await server.client.deleteStream(stream, { expectedRevision: BigInt(count - 1) });
  return stream;
}

describe('a soft delete', () => {
  test('makes the stream one that is not found', async () => {
    await expect(readWhole(server.client, await deletedStream(2))).rejects.toBeInstanceOf(StreamNotFoundError);
  });

  test.each([
    ['no_stream', 'no_stream'],
    ['any', 'any'],
    ['the old head', 1n],
  ] as const)('is undone by an append that expects %s; revisions go on', async (_, expectedRevision) => {
    const stream = await deletedStream(2);
    const append = await server.client.appendToStream(stream, counted(7), { expectedRevision });
    expect(append.nextExpectedRevision).toBe(2n);
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([7]);
  });

  test('makes stream_exists fail', async () => {
    const append = server.client.appendToStream(await deletedStream(1), counted(7), {
      expectedRevision: 'stream_exists',
    });
    await expect(append).rejects.toBeInstanceOf(WrongExpectedVersionError);
  });

  test('keeps other settings of the stream', async () => {
    const stream = newStream();
    await server.client.setStreamMetadata(stream, { maxCount: 9, owner: 'me' });
    await server.client.appendToStream(stream, counted(0));
    await server.client.deleteStream(stream);
    await server.client.appendToStream(stream, counted(1));
    const { metadata } = await server.client.getStreamMetadata(stream);
    expect(metadata).toMatchObject({ maxCount: 9, owner: 'me', truncateBefore: 1 });
  });

  test('repeats are recognised with no_stream only when they are the beginning of the stream', async () => {
    const stream = newStream();
    const [old, fresh] = [countedTo(2), countedTo(2)];
    await server.client.appendToStream(stream, old, { expectedRevision: 'no_stream' });
    await server.client.deleteStream(stream);
    const early = await server.client.appendToStream(stream, old, { expectedRevision: 'no_stream' });
    expect(early.nextExpectedRevision).toBe(1n);
    await server.client.appendToStream(stream, fresh, { expectedRevision: 'no_stream' });
    const late = server.client.appendToStream(stream, fresh, { expectedRevision: 'no_stream' });
    await expect(late).rejects.toMatchObject({ actualVersion: 3n });
    const exact = await server.client.appendToStream(stream, fresh, { expectedRevision: 1n });
    expect(exact.nextExpectedRevision).toBe(3n);
  });

  test('checks its expected revision, and says so by trailers', async () => {
    const stream = newStream();
    await server.client.appendToStream(stream, countedTo(3));
    await expect(server.client.deleteStream(stream, { expectedRevision: 1n })).rejects.toMatchObject({
      constructor: WrongExpectedVersionError,
      streamName: stream,
      expectedVersion: 1n,
      actualVersion: 2n,
    });
    const missing = server.client.deleteStream(newStream(), { expectedRevision: 5n });
    await expect(missing).rejects.toMatchObject({ expectedVersion: 5n, actualVersion: 'no_stream' });
  });
});

describe('a tombstone', () => {
  test('ends a stream for ever', async () => {
    const stream = newStream();
    await server.client.appendToStream(stream, countedTo(2));
    await server.client.tombstoneStream(stream, { expectedRevision: 1n });
    const again = server.client.tombstoneStream(stream);
    await expect(again).rejects.toMatchObject({ constructor: StreamDeletedError, streamName: stream });
    await expect(server.client.deleteStream(stream)).rejects.toBeInstanceOf(StreamDeletedError);
  });

  test('checks its expected revision', async () => {
    const stream = newStream();
    await server.client.appendToStream(stream, counted(0));
    const tombstone = server.client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
    await expect(tombstone).rejects.toMatchObject({ expectedVersion: -1n, actualVersion: 0n });
  });
});
