import {
  AccessDeniedError,
  CancelledError,
  DeadlineExceededError,
  NotLeaderError,
  TimeoutError,
  UnavailableError,
  UnknownError,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { counted, countedTo, numbersOf, readWhole, revisionsOf } from './events.fixture.js';
import { Follower } from './follower.fixture.js';
import type { Fault, FaultRule } from '../index.js';
import { connect, isControllable, newStream, serverUnderTest } from './server.fixture.js';

// A real server cannot be told to fail.
describe.runIf(isControllable)('a fault', () => {
  const server = serverUnderTest();
  let client: EventStoreDBClient;
  beforeEach(() => (client = connect(server.emulator.connectionString)));
  afterEach(async () => {
    await server.emulator.faults.clear();
    await client.dispose();
  });

  const inject = (rule: FaultRule): Promise<void> => server.emulator.faults.inject(rule);
  const credentials = { username: 'a', password: 'b' };

  /** What became of an append that a fault hits: by BatchAppend, or by Append when it has credentials. */
  async function hit(fault: FaultRule['fault'], options: { credentials?: typeof credentials } = {}) {
    const stream = newStream();
    await client.appendToStream(stream, counted(0), { expectedRevision: 'no_stream', ...options });
    await inject({ on: 'append', fault, times: 1, stream });
    const append = client.appendToStream(stream, counted(1), { expectedRevision: 0n, ...options });
    const error = await append.then(
      () => undefined,
      (cause: unknown) => cause,
    );
    const stored = await readWhole(connect(server.emulator.connectionString), stream);
    return { error, isStored: stored.length === 2 };
  }

  describe.each([true, false])('that shows when the append is committed: %s', (committed) => {
    test.each([
      [{ kind: 'unavailable', committed }, UnavailableError],
      [{ kind: 'cancelled', committed }, CancelledError],
      [{ kind: 'cut', committed }, UnavailableError],
      [{ kind: 'timeout', committed }, DeadlineExceededError],
    ] as const)('by BatchAppend: %j', async (fault, type) => {
      const { error, isStored } = await hit(fault);
      expect(error).toBeInstanceOf(type);
      expect(isStored).toBe(committed);
    });

    test.each([
      [{ kind: 'unavailable', committed }, UnavailableError],
      [{ kind: 'cancelled', committed }, CancelledError],
      [{ kind: 'cut', committed }, UnavailableError],
      [{ kind: 'timeout', committed }, TimeoutError],
      [{ kind: 'end', committed }, UnknownError],
    ] as const)('by Append: %j', async (fault, type) => {
      const { error, isStored } = await hit(fault, { credentials });
      expect(error).toBeInstanceOf(type);
      expect(isStored).toBe(committed);
    });

    test.each(['no-answer', 'end'] as const)('by BatchAppend the writer waits for ever: %s', async (kind) => {
      const stream = newStream();
      await inject({ on: 'append', fault: { kind, committed }, times: 1 });
      const writer = connect(server.emulator.connectionString);
      const append = writer.appendToStream(stream, counted(0), { expectedRevision: 'no_stream', deadline: 50 });
      let isSettled = false;
      append.catch(() => undefined).finally(() => (isSettled = true));
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(isSettled).toBe(false);
      const read = readWhole(client, stream);
      if (committed) expect(await read).toHaveLength(1);
      else await expect(read).rejects.toThrow('not found');
      // After a call that the server has ended, the client waits for ever here too.
      void writer.dispose();
    });
  });

  test('of an append without an answer ends at the deadline by Append', async () => {
    await inject({ on: 'append', fault: { kind: 'no-answer', committed: true }, times: 1 });
    const append = client.appendToStream(newStream(), counted(0), { credentials, deadline: 60 });
    await expect(append).rejects.toBeInstanceOf(DeadlineExceededError);
  });

  test('that commits and answers late is a success, and seen before', async () => {
    const stream = newStream();
    await inject({ on: 'append', fault: { kind: 'late-answer', ms: 300 }, times: 1 });
    let isAnswered = false;
    const append = client.appendToStream(stream, counted(0)).finally(() => (isAnswered = true));
    const follower = new Follower(server.client.subscribeToStream(stream));
    await follower.received(1);
    expect(isAnswered).toBe(false);
    expect(await append).toMatchObject({ success: true, nextExpectedRevision: 0n });
    await follower.end();
  });

  test('that is slow stores late', async () => {
    const stream = newStream();
    await inject({ on: 'append', fault: { kind: 'slow', ms: 200 }, times: 1 });
    const append = client.appendToStream(stream, counted(0));
    await expect(readWhole(client, stream)).rejects.toThrow('not found');
    expect(await append).toMatchObject({ success: true });
  });

  test('of a busy server is an error that the client does not know', async () => {
    const { error, isStored } = await hit({ kind: 'busy' });
    expect(error).toMatchObject({
      constructor: UnknownError,
      message: expect.stringContaining('Server Is Busy') as unknown,
    });
    expect(isStored).toBe(false);
    expect((await hit({ kind: 'busy' }, { credentials })).error).toBeInstanceOf(UnavailableError);
  });

  test.each([{}, { credentials }])('of access is an error of its class: %j', async (options) => {
    const { error, isStored } = await hit({ kind: 'access-denied' }, options);
    expect(error).toBeInstanceOf(AccessDeniedError);
    expect(isStored).toBe(false);
  });

  test.each([{}, { credentials }])('of leadership names the leader: %j', async (options) => {
    const { error } = await hit({ kind: 'not-leader', host: '127.0.0.9', port: 7 }, options);
    expect(error).toMatchObject({ constructor: NotLeaderError, leader: { address: '127.0.0.9', port: 7 } });
  });

  test('lets an identical batch be sent again after an ambiguous commit', async () => {
    const stream = newStream();
    const batch = countedTo(3);
    await inject({ on: 'append', fault: { kind: 'cut', committed: true }, times: 1 });
    const lost = client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    await expect(lost).rejects.toBeInstanceOf(UnavailableError);
    const again = await client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    expect(again.nextExpectedRevision).toBe(2n);
    expect(numbersOf(await readWhole(client, stream))).toEqual([0, 1, 2]);
  });

  test('hits the calls that its rule means', async () => {
    const [hitStream, other] = [newStream('hit'), newStream('other')];
    await inject({ on: ['append', 'read'], fault: { kind: 'unavailable' }, stream: 'hit-', skip: 1, times: 2 });
    await client.appendToStream(other, counted(0));
    await client.appendToStream(hitStream, counted(0));
    await expect(client.appendToStream(hitStream, counted(1))).rejects.toBeInstanceOf(UnavailableError);
    await expect(readWhole(client, hitStream)).rejects.toBeInstanceOf(UnavailableError);
    expect(numbersOf(await readWhole(client, hitStream))).toEqual([0]);
  });

  test('that is no rule is refused, and names what is wrong', async () => {
    const rule = { on: 'append', fault: { kind: 'slow', ms: -1 } } as const;
    await expect(server.emulator.faults.inject(rule)).rejects.toThrow('ms');
  });

  describe('of a read', () => {
    test.each([
      [{ kind: 'cut', afterEvents: 3 }, UnavailableError],
      [{ kind: 'unavailable', afterEvents: 3 }, UnavailableError],
      [{ kind: 'cancelled', afterEvents: 3 }, CancelledError],
    ] as const)('comes after some events: %j', async (fault, type) => {
      const stream = newStream();
      await client.appendToStream(stream, countedTo(9));
      await inject({ on: 'read', fault, times: 1 });
      const seen: unknown[] = [];
      const read = (async () => {
        for await (const { event } of client.readStream(stream)) seen.push(event?.revision);
      })();
      await expect(read).rejects.toBeInstanceOf(type);
      expect(seen.length).toBeLessThanOrEqual(3);
    });

    test.each([
      [{ kind: 'timeout' }, TimeoutError],
      [{ kind: 'access-denied' }, AccessDeniedError],
      [{ kind: 'not-leader', host: '127.0.0.9', port: 7 }, NotLeaderError],
    ] as const)('comes before any: %j', async (fault: FaultRule['fault'], type) => {
      await inject({ on: 'read', fault, times: 1 });
      await expect(readWhole(client, newStream())).rejects.toBeInstanceOf(type);
    });

    test('never ends when there is no answer, until the reader gives up', async () => {
      const stream = newStream();
      await client.appendToStream(stream, countedTo(2));
      await inject({ on: 'read', fault: { kind: 'no-answer' }, times: 1 });
      const read = client.readStream(stream);
      const first = read[Symbol.asyncIterator]().next();
      const late = Symbol('late');
      const timer = new Promise((resolve) => setTimeout(resolve, 200, late));
      expect(await Promise.race([first, timer])).toBe(late);
      expect((await server.emulator.faults.counts()).open.read).toBe(1);
      first.catch(() => undefined);
      await read.cancel();
      await expect.poll(async () => (await server.emulator.faults.counts()).open.read).toBe(0);
    });
  });

  test.each([
    [{ kind: 'cut', committed: false, afterEvents: 2 }, UnavailableError],
    [{ kind: 'cancelled', committed: false, afterEvents: 2 }, CancelledError],
  ] satisfies [Fault, unknown][])('ends a subscription, which goes on where it was: %j', async (fault, type) => {
    const stream = newStream();
    await client.appendToStream(stream, countedTo(4));
    await inject({ on: 'subscribe', fault, times: 1 });
    const follower = new Follower(client.subscribeToStream(stream));
    await follower.until(({ error }) => error !== undefined);
    expect(follower.error).toBeInstanceOf(type);
    const last = follower.events.at(-1)?.event?.revision;
    const again = new Follower(client.subscribeToStream(stream, { fromRevision: last ?? 'start' }));
    await again.caughtUp();
    expect([...revisionsOf(follower.events), ...revisionsOf(again.events)]).toEqual([0n, 1n, 2n, 3n]);
    await again.end();
  });
});
