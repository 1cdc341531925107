import { jsonEvent, MaxAppendSizeExceededError, RequiredMetadataPropertyMissingError } from '@eventstore/db-client';
import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import streamsRpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/index.js';
import grpc from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { counted, readWhole } from './events.fixture.js';
import { connect, isControllable, newStream, serverUnderTest } from './server.fixture.js';

const server = serverUnderTest();
const credentials = { username: 'admin', password: 'changeit' };

describe('an append that is too large', () => {
  test.each([{}, { credentials }])('is refused as a whole, with the limit: %j', async (options) => {
    const stream = newStream();
    const events = Array.from({ length: 4 }, () => jsonEvent({ type: 'Large', data: 'x'.repeat(512 * 1024) }));
    const error: unknown = await server.client.appendToStream(stream, events, options).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(MaxAppendSizeExceededError);
    expect((error as MaxAppendSizeExceededError).maxAppendSize).toBeGreaterThanOrEqual(1024 * 1024);
    await expect(readWhole(server.client, stream)).rejects.toThrow('not found');
  });
});

// The limit of a real server is its own matter.
describe.runIf(isControllable)('the limit of an append', () => {
  const small = serverUnderTest({ maxAppendBytes: 1000 });

  test('counts type, data and metadata of all events, and lets its last byte through', async () => {
    // 4 bytes of the type, 7 of the metadata, and the quotes of the text.
    const event = (bytes: number) =>
      jsonEvent({ type: 'Type', data: 'x'.repeat(bytes - 4 - 7 - 2), metadata: { m: 1 } });
    const whole = await small.client.appendToStream(newStream(), [event(400), event(600)]);
    expect(whole.success).toBe(true);
    const over = small.client.appendToStream(newStream(), [event(401), event(600)]);
    await expect(over).rejects.toMatchObject({ constructor: MaxAppendSizeExceededError, maxAppendSize: 1000 });
  });

  test('is no limit of a stream', async () => {
    const stream = newStream();
    for (let n = 0; n < 60; n += 1) await small.client.appendToStream(stream, counted(n));
    expect(await readWhole(small.client, stream)).toHaveLength(60);
  });
});

// The client always gives a type: only a call of one's own can leave it out.
describe.runIf(isControllable)('a call that the client does not make', () => {
  test('without the type of an event names what is missing', async () => {
    const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(newStream()));
    const options = new streams.AppendReq.Options().setStreamIdentifier(identifier).setAny(new shared.Empty());
    const message = new streams.AppendReq.ProposedMessage();
    message.setId(new shared.UUID().setString('7bdd4b0d-9a2a-4b0c-8f0e-2f4ff0a4a5b1'));
    message.getMetadataMap().set('content-type', 'application/json');
    const address = `127.0.0.1:${server.emulator.port}`;
    const raw = new streamsRpc.StreamsClient(address, grpc.credentials.createInsecure());
    const error = await new Promise<Error>((resolve) => {
      const call = raw.append((failure: grpc.ServiceError | null, _response?: AppendResp) =>
        resolve(convertToCommandError(failure ?? new Error('It was taken.'))),
      );
      call.write(new streams.AppendReq().setOptions(options));
      call.write(new streams.AppendReq().setProposedMessage(message));
      call.end();
    });
    raw.close();
    expect(error).toBeInstanceOf(RequiredMetadataPropertyMissingError);
    expect(error).toMatchObject({ requiredMetadataProperties: ['type'] });
  });
});

// A real server has a limit of its own for calls.
describe.runIf(isControllable)('the limit of calls over one connection', () => {
  const narrow = serverUnderTest({ maxStreamsPerConnection: 5 });

  test('keeps a further subscription waiting; a connection of its own lets it through', async () => {
    const url = narrow.emulator.connectionString;
    const client = connect(url);
    const confirmed: number[] = [];
    const subscriptions = Array.from({ length: 6 }, (_, index) =>
      client.subscribeToStream(newStream()).on('confirmation', () => confirmed.push(index)),
    );
    await expect.poll(() => confirmed.length).toBe(5);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(confirmed).toHaveLength(5);
    expect((await narrow.emulator.faults.counts()).open.subscribe).toBe(5);
    // Clients with other settings do not share the connection.
    const other = connect(`${url}&keepAliveInterval=10001`);
    await expect(other.appendToStream(newStream(), counted(0))).resolves.toMatchObject({ success: true });
    await subscriptions[0]?.unsubscribe();
    await expect.poll(() => confirmed.length).toBe(6);
    for (const subscription of subscriptions) await subscription.unsubscribe();
    await Promise.all([client.dispose(), other.dispose()]);
  });
});

// Only the emulator counts its calls for others.
describe.runIf(isControllable)('a read that is left before its end', () => {
  test('stays open until it is cancelled', async () => {
    const stream = newStream();
    const events = Array.from({ length: 30 }, () => jsonEvent({ type: 'Large', data: 'x'.repeat(30_000) }));
    await server.client.appendToStream(stream, events);
    const openReads = async () => (await server.emulator.faults.counts()).open.read;
    await expect.poll(openReads).toBe(0);
    const read = server.client.readStream(stream);
    for await (const _ of read) break;
    expect(await openReads()).toBe(1);
    await read.cancel();
    await expect.poll(openReads).toBe(0);
  });
});
