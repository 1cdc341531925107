import { binaryEvent, jsonEvent, StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { collect, counted, countedTo, numbersOf, readWhole, revisionsOf } from './events.fixture.js';
import { newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();

async function streamOf(count: number): Promise<string> {
  const stream = newStream();
  await server.client.appendToStream(stream, countedTo(count), { expectedRevision: 'no_stream' });
  return stream;
}

describe('reading a stream', () => {
  test.each([
    ['forwards from the start', {}, [0, 1, 2, 3, 4]],
    ['forwards from a revision, with it', { fromRevision: 2n }, [2, 3, 4]],
    ['forwards from behind the end', { fromRevision: 9n }, []],
    ['forwards from the end', { fromRevision: 'end' }, []],
    ['forwards with a limit', { fromRevision: 1n, maxCount: 2 }, [1, 2]],
    ['backwards from the end', { direction: 'backwards', fromRevision: 'end' }, [4, 3, 2, 1, 0]],
    ['backwards from a revision, with it', { direction: 'backwards', fromRevision: 2n }, [2, 1, 0]],
    ['backwards from behind the end', { direction: 'backwards', fromRevision: 9n, maxCount: 2 }, [4, 3]],
    ['backwards from the start', { direction: 'backwards', fromRevision: 'start' }, [0]],
    ['backwards with a limit', { direction: 'backwards', fromRevision: 'end', maxCount: 1 }, [4]],
  ] as const)('%s', async (_, options, expected) => {
    expect(numbersOf(await readWhole(server.client, await streamOf(5), options))).toEqual(expected);
  });

  test('gives back ids, types, times, metadata and bytes as they were given', async () => {
    const stream = newStream();
    const [json, binary] = [randomUUID(), randomUUID()];
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const before = Date.now();
    await server.client.appendToStream(stream, [
      jsonEvent({ id: json, type: 'Told', data: { text: 'ä€𝄞' }, metadata: { by: 'me' } }),
      binaryEvent({ id: binary, type: 'Sent', data: bytes, metadata: bytes }),
    ]);
    const [first, second] = await readWhole(server.client, stream);
    expect(first?.event).toMatchObject({
      streamId: stream,
      id: json,
      revision: 0n,
      type: 'Told',
      isJson: true,
      data: { text: 'ä€𝄞' },
      metadata: { by: 'me' },
    });
    expect(second?.event).toMatchObject({ id: binary, revision: 1n, type: 'Sent', isJson: false });
    expect(Buffer.from(second?.event?.data as Uint8Array)).toEqual(Buffer.from(bytes));
    expect(Buffer.from(second?.event?.metadata as Uint8Array)).toEqual(Buffer.from(bytes));
    // The clock of a real server may differ a little from the one here.
    expect(Math.abs((first?.event?.created.getTime() ?? 0) - before)).toBeLessThan(60_000);
  });

  test('of a missing stream is an error that says so', async () => {
    await expect(readWhole(server.client, newStream())).rejects.toBeInstanceOf(StreamNotFoundError);
  });

  test('of a tombstoned stream is an error that names it', async () => {
    const stream = await streamOf(1);
    await server.client.tombstoneStream(stream);
    const read = readWhole(server.client, stream);
    await expect(read).rejects.toMatchObject({ constructor: StreamDeletedError, streamName: stream });
  });

  test('of many events comes whole and in order', async () => {
    const stream = await streamOf(500);
    const events = await readWhole(server.client, stream);
    expect(revisionsOf(events)).toEqual(Array.from({ length: 500 }, (_, revision) => BigInt(revision)));
  });
});

describe('reading $all', () => {
  test('forwards includes the position, backwards begins before it', async () => {
    const stream = await streamOf(3);
    const [, second] = await readWhole(server.client, stream);
    const fromPosition = second?.event?.position ?? 'start';
    const forwards = await collect(server.client.readAll({ fromPosition, maxCount: 2 }));
    expect(numbersOf(forwards)).toEqual([1, 2]);
    const backwards = await collect(server.client.readAll({ fromPosition, direction: 'backwards', maxCount: 1 }));
    expect(numbersOf(backwards)).toEqual([0]);
  });

  test('has the events of one append side by side, in growing positions', async () => {
    const stream = newStream();
    const { position } = await server.client.appendToStream(stream, countedTo(4), { expectedRevision: 'no_stream' });
    await server.client.appendToStream(newStream(), counted(99));
    const options = { fromPosition: position ?? 'end', direction: 'backwards', maxCount: 3 } as const;
    const events = await collect(server.client.readAll(options));
    expect(numbersOf(events)).toEqual([2, 1, 0]);
    const positions = events.map(({ event }) => event?.position?.commit ?? -1n);
    expect(positions).toEqual([...positions].sort((left, right) => (left < right ? 1 : -1)));
    expect(new Set(positions).size).toBe(3);
  });

  test('has an end behind which there is nothing', async () => {
    const options = { fromPosition: 'end', maxCount: 1 } as const;
    await server.client.appendToStream(newStream(), counted(0));
    expect(await collect(server.client.readAll({ ...options, direction: 'backwards' }))).toHaveLength(1);
    expect(await collect(server.client.readAll(options))).toEqual([]);
  });
});

describe('a link', () => {
  const linkTo = (target: string) => binaryEvent({ type: '$>', data: Buffer.from(target) });

  test('is followed when the reader wants it', async () => {
    const target = await streamOf(2);
    const links = newStream('links');
    await server.client.appendToStream(links, linkTo(`1@${target}`));
    const [followed] = await readWhole(server.client, links, { resolveLinkTos: true });
    expect(followed?.event).toMatchObject({ streamId: target, revision: 1n, data: { n: 1 } });
    expect(followed?.link).toMatchObject({ streamId: links, revision: 0n, type: '$>' });
    const [plain] = await readWhole(server.client, links);
    expect(plain?.event).toMatchObject({ streamId: links, type: '$>' });
    expect(plain?.link).toBeUndefined();
  });

  test('to what is gone has no event', async () => {
    const target = await streamOf(1);
    const links = newStream('links');
    await server.client.appendToStream(links, linkTo(`0@${target}`));
    await server.client.deleteStream(target);
    const [followed] = await readWhole(server.client, links, { resolveLinkTos: true });
    expect(followed?.event).toBeUndefined();
    expect(followed?.link).toMatchObject({ streamId: links });
  });
});
