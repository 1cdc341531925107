import { CancelledError, UnavailableError } from '@eventstore/db-client';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spawnEmulator, startEmulator, type EmulatorProcess } from '../index.js';
import { counted, countedTo, numbersOf, readWhole } from './events.fixture.js';
import { Follower } from './follower.fixture.js';
import { connect, isControllable, newStream } from './server.fixture.js';

/** How often the server is killed under load. */
const KILLS = Number(process.env['EVENTSTOREDB_KILLS'] ?? 1);

// A real server is not ours to kill.
describe.runIf(isControllable)('a server that comes back', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eventstoredb-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('has everything as it was, and forgets the ids of weak appends', async () => {
    const [stream, deleted, tombstoned] = [newStream(), newStream(), newStream()];
    const batch = countedTo(3);
    const first = await startEmulator({ folder });
    const client = connect(first.connectionString);
    const { position } = await client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    await client.setStreamMetadata(stream, { maxCount: 2 });
    for (const name of [deleted, tombstoned]) await client.appendToStream(name, counted(0));
    await client.deleteStream(deleted);
    await client.tombstoneStream(tombstoned);
    const before = await readWhole(client, stream);
    await first.close();

    const second = await startEmulator({ folder, port: first.port });
    expect(await readWhole(client, stream)).toEqual(before);
    await expect(readWhole(client, deleted)).rejects.toThrow('not found');
    await expect(client.appendToStream(tombstoned, counted(1))).rejects.toThrow();
    const strong = await client.appendToStream(stream, batch, { expectedRevision: 'no_stream' });
    expect(strong).toMatchObject({ nextExpectedRevision: 2n, position });
    const weak = await client.appendToStream(stream, batch, { expectedRevision: 'any' });
    expect(weak.nextExpectedRevision).toBe(5n);
    await client.dispose();
    await second.close();
  });

  test('ends subscriptions when it stops, and takes them up again', async () => {
    const stream = newStream();
    const first = await startEmulator({ folder });
    const client = connect(first.connectionString);
    await client.appendToStream(stream, countedTo(2));
    const follower = new Follower(client.subscribeToStream(stream));
    await follower.caughtUp();
    await first.close();
    await follower.until(({ error }) => error !== undefined);
    expect([CancelledError, UnavailableError]).toContain(follower.error?.constructor);
    const second = await startEmulator({ folder, port: first.port });
    await client.appendToStream(stream, counted(2), { expectedRevision: 1n });
    const again = new Follower(client.subscribeToStream(stream, { fromRevision: 1n }));
    await again.received(1);
    expect(numbersOf(again.events)).toEqual([2]);
    await again.end();
    await client.dispose();
    await second.close();
  });

  test('after SIGKILL under load has every event that it acknowledged, once', async () => {
    const streams = Array.from({ length: 4 }, () => newStream());
    let server = await spawnEmulator(['--folder', folder, '--port', '0']);
    const port = new URL(server.connectionString.replace('esdb:', 'http:')).port;
    const client = connect(server.connectionString);
    let isOver = false;
    const acknowledged = streams.map(() => 0);
    // Credentials lead the client to Append, whose calls end with their connection.
    const credentials = { username: 'a', password: 'b' };
    const writers = streams.map(async (stream, index) => {
      for (let n = 0; !isOver; n += 1) {
        const event = counted(n, randomUUID());
        const expectedRevision = n === 0 ? 'no_stream' : BigInt(n - 1);
        for (;;) {
          try {
            await client.appendToStream(stream, event, { expectedRevision, credentials, deadline: 2000 });
            break;
          } catch (error) {
            if (!isTransient(error)) throw error;
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
        acknowledged[index] = n + 1;
      }
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = Math.min(...acknowledged);
      await expect.poll(() => Math.min(...acknowledged), { timeout: 10_000 }).toBeGreaterThan(before + 20);
      await server.end('SIGKILL');
      server = await spawnEmulator(['--folder', folder, '--port', port]);
    }
    isOver = true;
    await Promise.all(writers);
    for (const [index, stream] of streams.entries()) {
      const numbers = numbersOf(await readWhole(client, stream));
      expect(numbers).toEqual(Array.from({ length: acknowledged[index] ?? 0 }, (_, n) => n));
    }
    await client.dispose();
    await server.end();
  });

  test('as a process is told its faults over HTTP', async () => {
    const server: EmulatorProcess = await spawnEmulator(['--folder', folder, '--port', '0', '--no-disk-wait']);
    const client = connect(server.connectionString);
    await server.faults.inject({ on: 'append', fault: { kind: 'unavailable' }, times: 1 });
    await expect(client.appendToStream(newStream(), counted(0))).rejects.toBeInstanceOf(UnavailableError);
    await client.appendToStream(newStream(), counted(0));
    expect(await server.faults.counts()).toMatchObject({ connections: 1, total: { append: 2 }, open: { append: 0 } });
    const wrong = { on: 'everything', fault: { kind: 'cut' } } as never;
    await expect(server.faults.inject(wrong)).rejects.toThrow('on');
    await server.faults.setMembers([{ host: 'elsewhere', port: 1, state: 'follower' }]);
    await server.faults.inject({ on: 'append', fault: { kind: 'no-answer' } });
    await server.faults.clear();
    const follower = new Follower(client.subscribeToStream(newStream()));
    await follower.caughtUp();
    await server.faults.cutConnections();
    await follower.until(({ error }) => error !== undefined);
    await client.dispose();
    await server.end();
  });

  test('does not start on a folder that is in use', async () => {
    const server = await startEmulator({ folder });
    await expect(startEmulator({ folder })).rejects.toThrow(`used by process ${process.pid}`);
    await server.close();
  });
});

function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && [1, 2, 4, 14].includes(Number(error.code));
}
