import { DeadlineExceededError, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client';
import { describe, expect, test } from 'vitest';
import { counted, countedTo, numbersOf, readWhole } from './events.fixture.js';
import { newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();

describe('expected revision', () => {
  test('an exact revision passes when it is the last one', async () => {
    const stream = newStream();
    const first = await server.client.appendToStream(stream, countedTo(3), { expectedRevision: 'no_stream' });
    expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
    const second = await server.client.appendToStream(stream, counted(3), { expectedRevision: 2n });
    expect(second).toMatchObject({ success: true, nextExpectedRevision: 3n });
  });

  test.each([
    ['behind the last one', 0n],
    ['beyond the last one', 9n],
  ])('an exact revision %s is a conflict that names both', async (_, expectedRevision) => {
    const stream = newStream();
    await server.client.appendToStream(stream, countedTo(3), { expectedRevision: 'no_stream' });
    const append = server.client.appendToStream(stream, counted(9), { expectedRevision });
    await expect(append).rejects.toMatchObject({
      constructor: WrongExpectedVersionError,
      streamName: stream,
      expectedVersion: expectedRevision,
      actualVersion: 2n,
    });
  });

  test('an exact revision of a stream that is not there is a conflict', async () => {
    const append = server.client.appendToStream(newStream(), counted(0), { expectedRevision: 0n });
    await expect(append).rejects.toMatchObject({ expectedVersion: 0n, actualVersion: 'no_stream' });
  });

  test('no_stream fails when the stream has events', async () => {
    const stream = newStream();
    await server.client.appendToStream(stream, counted(0), { expectedRevision: 'no_stream' });
    const append = server.client.appendToStream(stream, counted(1), { expectedRevision: 'no_stream' });
    await expect(append).rejects.toMatchObject({ expectedVersion: 'no_stream', actualVersion: 0n });
  });

  test('stream_exists passes with events and fails without', async () => {
    const stream = newStream();
    const early = server.client.appendToStream(stream, counted(0), { expectedRevision: 'stream_exists' });
    await expect(early).rejects.toMatchObject({ expectedVersion: 'stream_exists', actualVersion: 'no_stream' });
    await server.client.appendToStream(stream, counted(0), { expectedRevision: 'any' });
    const late = await server.client.appendToStream(stream, counted(1), { expectedRevision: 'stream_exists' });
    expect(late.nextExpectedRevision).toBe(1n);
  });

  test('stream_exists passes when only metadata were written', async () => {
    const stream = newStream();
    await server.client.setStreamMetadata(stream, { maxCount: 5 });
    const append = await server.client.appendToStream(stream, counted(0), { expectedRevision: 'stream_exists' });
    expect(append.nextExpectedRevision).toBe(0n);
  });

  test('the Append call, which credentials lead to, reports the same conflict', async () => {
    const stream = newStream();
    const credentials = { username: 'admin', password: 'changeit' };
    await server.client.appendToStream(stream, counted(0), { expectedRevision: 'no_stream', credentials });
    const append = server.client.appendToStream(stream, counted(1), { expectedRevision: 7n, credentials });
    await expect(append).rejects.toMatchObject({ streamName: stream, expectedVersion: 7n, actualVersion: 0n });
  });
});

describe('a repeat with an exact revision', () => {
  test('is a success with the old revision, whatever came behind it', async () => {
    const stream = newStream();
    const batch = countedTo(2);
    const first = await server.client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    await server.client.appendToStream(stream, countedTo(3), { expectedRevision: 1n });
    const repeat = await server.client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    expect(repeat).toMatchObject({ success: true, nextExpectedRevision: 1n, position: first.position });
    expect(await readWhole(server.client, stream)).toHaveLength(5);
  });

  test('is recognised in the middle of a stream', async () => {
    const stream = newStream();
    await server.client.appendToStream(stream, countedTo(2), { expectedRevision: 'no_stream' });
    const batch = countedTo(2);
    await server.client.appendToStream(stream, batch, { expectedRevision: 1n });
    await server.client.appendToStream(stream, countedTo(1), { expectedRevision: 3n });
    const repeat = await server.client.appendToStream(stream, batch, { expectedRevision: 1n });
    expect(repeat.nextExpectedRevision).toBe(3n);
  });

  test('is a conflict when the first id is another', async () => {
    const stream = newStream();
    const [, second] = await appended(stream, 2);
    const append = server.client.appendToStream(stream, [counted(0), second], { expectedRevision: 'no_stream' });
    await expect(append).rejects.toBeInstanceOf(WrongExpectedVersionError);
  });

  test('is a conflict when a later id is another', async () => {
    const stream = newStream();
    const [first] = await appended(stream, 2);
    const append = server.client.appendToStream(stream, [first, counted(1)], { expectedRevision: 'no_stream' });
    await expect(append).rejects.toBeInstanceOf(WrongExpectedVersionError);
  });

  test('is a conflict when it is longer than what is there', async () => {
    const stream = newStream();
    const batch = await appended(stream, 2);
    const append = server.client.appendToStream(stream, [...batch, counted(2)], { expectedRevision: 'no_stream' });
    await expect(append).rejects.toMatchObject({ actualVersion: 1n });
  });

  test('counts as a repeat when it is shorter than what is there', async () => {
    const stream = newStream();
    const [first] = await appended(stream, 2);
    const repeat = await server.client.appendToStream(stream, [first], { expectedRevision: 'no_stream' });
    expect(repeat.nextExpectedRevision).toBe(0n);
  });
});

describe('a repeat without an exact revision', () => {
  test.each(['any', 'stream_exists'] as const)(
    'with %s is recognised while the ids are remembered',
    async (expected) => {
      const stream = newStream();
      const batch = await appended(stream, 2);
      await appendedBehind(stream, 1n);
      const repeat = await server.client.appendToStream(stream, batch, { expectedRevision: expected });
      expect(repeat.nextExpectedRevision).toBe(1n);
      expect(await readWhole(server.client, stream)).toHaveLength(3);
    },
  );

  test('is a conflict when only the first id is known', async () => {
    const stream = newStream();
    const [first] = await appended(stream, 1);
    const append = server.client.appendToStream(stream, [first, counted(1)], { expectedRevision: 'any' });
    await expect(append).rejects.toBeInstanceOf(WrongExpectedVersionError);
  });

  test('is appended as a whole when the first id is not known', async () => {
    const stream = newStream();
    const [first] = await appended(stream, 1);
    const append = await server.client.appendToStream(stream, [counted(7), first], { expectedRevision: 'any' });
    expect(append.nextExpectedRevision).toBe(2n);
    expect(numbersOf(await readWhole(server.client, stream))).toEqual([0, 7, 0]);
  });
});

describe('a batch', () => {
  test('may have ids that another stream has, and one id twice', async () => {
    const [shared] = await appended(newStream(), 1);
    const stream = newStream();
    const twice = counted(5);
    const batch = [shared, twice, twice];
    const append = await server.client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    expect(append.nextExpectedRevision).toBe(2n);
  });

  test('without events checks its expectation and changes nothing', async () => {
    const stream = newStream();
    await appended(stream, 2);
    const empty = await server.client.appendToStream(stream, [], { expectedRevision: 1n });
    expect(empty).toMatchObject({ success: true, nextExpectedRevision: 1n });
    const wrong = server.client.appendToStream(stream, [], { expectedRevision: 0n });
    await expect(wrong).rejects.toBeInstanceOf(WrongExpectedVersionError);
    expect(await readWhole(server.client, stream)).toHaveLength(2);
  });

  test('that comes in several parts is stored as one', async () => {
    const stream = newStream();
    const batch = countedTo(50);
    const options = { expectedRevision: 'no_stream', batchAppendSize: 500 } as const;
    const append = await server.client.appendToStream(stream, batch, options);
    expect(append.nextExpectedRevision).toBe(49n);
    expect(numbersOf(await readWhole(server.client, stream))).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  test('whose time has passed when it comes is refused', async () => {
    const stream = newStream();
    const append = server.client.appendToStream(stream, counted(0), { deadline: -10_000 });
    await expect(append).rejects.toBeInstanceOf(DeadlineExceededError);
    await expect(readWhole(server.client, stream)).rejects.toThrow('not found');
  });

  test('of many writers at one revision is taken once', async () => {
    const stream = newStream();
    await appended(stream, 1);
    const tries = Array.from({ length: 10 }, (_, n) =>
      server.client.appendToStream(stream, counted(n), { expectedRevision: 0n }),
    );
    const ends = await Promise.allSettled(tries);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readWhole(server.client, stream)).toHaveLength(2);
  });
});

test('a tombstoned stream takes nothing, whatever is expected', async () => {
  const stream = newStream();
  const batch = await appended(stream, 1);
  await server.client.tombstoneStream(stream);
  for (const expectedRevision of ['any', 'no_stream', 'stream_exists', 0n] as const) {
    const append = server.client.appendToStream(stream, batch, { expectedRevision });
    await expect(append).rejects.toMatchObject({ constructor: StreamDeletedError, streamName: stream });
  }
});

async function appended<Count extends 1 | 2>(stream: string, count: Count) {
  const events = countedTo(count) as Count extends 1 ? [ReturnType<typeof counted>] : NumberPair;
  await server.client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
  return events;
}

type NumberPair = [ReturnType<typeof counted>, ReturnType<typeof counted>];

async function appendedBehind(stream: string, expectedRevision: bigint): Promise<void> {
  await server.client.appendToStream(stream, counted(99), { expectedRevision });
}
